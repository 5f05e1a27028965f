import { type Context, StdoutClosed } from "./verb.ts";

/** Options of {@link captureContext}. Nothing of the real environment is seen. */
export interface CaptureContextOptions {
  readonly variables?: Readonly<Record<string, string>>;
  readonly isTerminal?: boolean;
  /** Nobody reads stdout. */
  readonly stdoutClosed?: boolean;
  readonly describeComponent?: Context["describeComponent"];
}

/** A context for tests, and what was written to it. */
export interface CapturedContext {
  readonly context: Context;
  stdout(): string;
  stderr(): string;
}

/** Makes a context that keeps what a verb writes. */
export function captureContext(options: CaptureContextOptions = {}): CapturedContext {
  const written = { stdout: "", stderr: "" };
  const isTerminal = options.isTerminal ?? false;
  const context: Context = {
    stdout: {
      isTerminal,
      write(text) {
        if (options.stdoutClosed) throw new StdoutClosed("closed");
        written.stdout += text;
      },
    },
    stderr: { isTerminal, write: (text) => void (written.stderr += text) },
    readVariable: (name) => options.variables?.[name],
    ...(options.describeComponent === undefined ? {} : { describeComponent: options.describeComponent }),
  };
  return { context, stdout: () => written.stdout, stderr: () => written.stderr };
}
