/** The part of `@std/cli` that this project uses, typed loosely: the caller checks each value. */
export interface ParseArgsOptions {
  readonly "--"?: boolean;
  readonly alias?: Readonly<Record<string, string | readonly string[]>>;
  readonly boolean?: readonly string[];
  readonly collect?: readonly string[];
  readonly default?: Readonly<Record<string, unknown>>;
  readonly negatable?: readonly string[];
  readonly stopEarly?: boolean;
  readonly string?: readonly string[];
  readonly unknown?: (arg: string, key?: string, value?: unknown) => unknown;
}
export type ParsedArgs = { _: (string | number)[]; "--"?: string[] } & Record<string, unknown>;
export function parseArgs(args: readonly string[], options?: ParseArgsOptions): ParsedArgs;
