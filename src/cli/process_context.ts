import { CapsuleError, writeAll } from "../base/mod.ts";
import { watchInterrupt, watchInterrupts } from "./interruption.ts";
import { type Context, StdoutClosed, type TextSink } from "./verb.ts";

/** The context of this very process: its own streams and environment. */
export function processContext(): Context {
  return {
    stdout: stdoutSink(),
    stderr: stderrSink(),
    readVariable: (name) => Deno.env.get(name),
    watchInterrupt,
    watchInterrupts,
  };
}

function stdoutSink(): TextSink {
  const encoder = new TextEncoder();
  return {
    isTerminal: Deno.stdout.isTerminal(),
    write(text) {
      try {
        writeAll(Deno.stdout, encoder.encode(text));
      } catch (error) {
        if (error instanceof Deno.errors.BrokenPipe) throw new StdoutClosed("Write stdout: nobody reads it any more");
        throw new CapsuleError("stdout.failed", `Write stdout: ${(error as Error).message}`, { cause: error });
      }
    },
  };
}

function stderrSink(): TextSink {
  const encoder = new TextEncoder();
  return {
    isTerminal: Deno.stderr.isTerminal(),
    write(text) {
      try {
        writeAll(Deno.stderr, encoder.encode(text));
      } catch { /* nobody is left to be told */ }
    },
  };
}
