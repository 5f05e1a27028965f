import { CapsuleError, writeAll } from "../base/mod.ts";
import { hearInterrupts, outliveFileLimit, watchInterrupt, watchInterrupts } from "./interruption.ts";
import { readVariable } from "./read_variable.ts";
import { type Context, StdoutClosed, type TextSink } from "./verb.ts";

/** The context of this very process: its own streams and environment. */
export function processContext(): Context {
  const isAnswerable = Deno.stdin.isTerminal() && Deno.stderr.isTerminal();
  return {
    prepare: outliveFileLimit,
    ...(isAnswerable ? { readAnswer } : {}),
    stdout: stdoutSink(),
    stderr: stderrSink(),
    readVariable,
    readInput,
    watchInterrupt,
    watchInterrupts,
    hearInterrupts,
    readLines,
    isInteractive: Deno.stdin.isTerminal(),
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

async function readInput(maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of Deno.stdin.readable) {
    total += chunk.length;
    if (total > maxBytes) return undefined;
    chunks.push(chunk);
  }
  const whole = new Uint8Array(total);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

async function* readLines(maxBytes: number): AsyncIterable<string> {
  let open = "";
  for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const lines = (open + text).split("\n");
    open = lines.pop()!;
    for (const line of lines) yield bounded(line, maxBytes);
    bounded(open, maxBytes);
  }
  if (open !== "") yield open;
}

/** @throws `usage.bad_value` */
function bounded(line: string, maxBytes: number): string {
  if (line.length > maxBytes) {
    throw new CapsuleError("usage.bad_value", `Read stdin: found a line of more than the allowed ${maxBytes} bytes`);
  }
  return line.replace(/\r$/, "");
}

/** The longest line that a terminal gives at once (termios, canonical mode), bytes. */
const MAX_LINE_BYTES = 4096;

function readAnswer(): string {
  const buffer = new Uint8Array(MAX_LINE_BYTES);
  const count = Deno.stdin.readSync(buffer) ?? 0;
  return new TextDecoder().decode(buffer.subarray(0, count)).trim();
}
