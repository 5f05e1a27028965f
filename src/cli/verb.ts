import type { ComponentDescription } from "../component/mod.ts";
import type { BuildRequest } from "../session/mod.ts";
import type { Arguments } from "./options/arguments.ts";

/** One flag of a verb. Without `value` it is a switch; with it, `--name VALUE` or `--name=VALUE`. */
export interface Option {
  /** Without the dashes. */
  readonly name: string;
  /** The value's shape as help shows it, `HOST:GUEST[:ro|rw]`. */
  readonly value?: string;
  /** May be given more than once. */
  readonly repeatable?: boolean;
  /** One short line: what it does. */
  readonly summary: string;
  /** Help has no room for a line of its own here: its notes name it. */
  readonly isNoted?: true;
}

/** How many operands a verb takes. With `rest`, whatever follows the last of them (or `--`) is passed on verbatim. */
export interface Operands {
  readonly min: number;
  readonly max: number;
  readonly rest?: boolean;
  /** Name of each operand, for messages: `CAPSULE`. */
  readonly names: readonly string[];
}

/** One verb of the command line: one file, exported as `verb`. */
export interface Verb {
  readonly name: string;
  /** One line for the overview. */
  readonly summary: string;
  /** What follows `boll`, as help shows it: `run CAPSULE [options] [--] [ARGS]`. */
  readonly usage: string;
  readonly operands: Operands;
  readonly options: readonly Option[];
  /** Flags that are known and refused, with the reason: `{ net: "not supported yet" }`. */
  readonly refused?: Readonly<Record<string, string>>;
  /** Further lines of help: examples, what a value may be. */
  readonly notes?: readonly string[];
  /** Does the work and gives the exit status; failures are thrown as `CapsuleError`. */
  run(args: Arguments, context: Context): Promise<number>;
}

/** Where text goes. */
export interface TextSink {
  /** Whether a person looks at it. */
  readonly isTerminal: boolean;
  /** Writes all of it before it returns. @throws StdoutClosed when nobody reads any more */
  write(text: string): void;
}

/** Describes a component without running it, in a build cell unless it is cached. @throws `component.*` */
export type DescribeComponent = (request: BuildRequest) => Promise<ComponentDescription>;

/** What a verb gets from the outside: everything a test wants to replace. */
export interface Context {
  /** What is done to this process before anything else. @throws what the host refuses */
  readonly prepare?: () => void;
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  /** Reads one variable of the environment. */
  readonly readVariable: (name: string) => string | undefined;
  /** From the call on, signals that ask this process to end abort this instead. Absent: nothing interrupts. */
  readonly watchInterrupt?: () => AbortSignal;
  /** The same for a verb that drains: the second signal ends it at once. */
  readonly watchInterrupts?: () => { readonly first: AbortSignal; readonly second: AbortSignal };
  /** The same for a verb that goes on: hears of each signal, `interrupt` being the one of Ctrl-C. */
  readonly hearInterrupts?: (hear: (kind: "interrupt" | "end") => void) => void;
  /** The lines of standard input as they come, without their ends; each of at most so many bytes. */
  readonly readLines?: (maxBytes: number) => AsyncIterable<string>;
  /** Whether standard input is a terminal. */
  readonly isInteractive?: boolean;
  /** One line that a person types, without its end; empty at the end of input. Absent: nobody is there to ask. */
  readonly readAnswer?: () => string;
  /** All of standard input, at most so many bytes; nothing when there is more. Absent: there is none. */
  readonly readInput?: (maxBytes: number) => Promise<Uint8Array | undefined>;
  /** Absent: the session room's, which builds. */
  readonly describeComponent?: DescribeComponent;
}

/** Exit status when our own stdout has no reader (README, "Exit codes"). */
export const EXIT_STDOUT_CLOSED = 141;

/** Our own stdout has no reader any more: the process ends quietly with {@link EXIT_STDOUT_CLOSED}. */
export class StdoutClosed extends Error {
  override readonly name = "StdoutClosed";
}
