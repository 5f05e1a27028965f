import { type ByteSink, type ByteSource, SinkClosed, type SourceChunk } from "./ports.ts";

const READ_AHEAD_BYTES = 65_536; // what a pipe holds
const OUTPUT_BUDGET_BYTES = 1024 * 1024;
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 20;
// Rust's line writer, through which Deno writes stdout: what it buffers, and what a pipe takes whole or not at all.
const LINE_BUFFER_BYTES = 1024;
const ATOMIC_BYTES = 4096;
const NEWLINE = 10;

const nothing = new Uint8Array(0);

/** What {@link inheritedStdin} needs of Deno's stdin; tests bring their own. */
export interface StdinFile {
  readSync(bytes: Uint8Array): number | null;
  read(bytes: Uint8Array): Promise<number | null>;
}

/** What {@link inheritedSink} needs of Deno's stdout and stderr; tests bring their own. */
export interface StdoutFile {
  writeSync(bytes: Uint8Array): number;
  isTerminal(): boolean;
}

/**
 * The process's own stdin as a source. Reading holds up the thread; only a guest that waits for stdin *and* something
 * else starts an asynchronous read ahead (≤ 64 KiB). Such a read cannot be taken back and ends only while the guest
 * waits in a poll, so a blocking read that finds one under way says `would-block`; no byte is lost or comes twice.
 */
export function inheritedStdin(file: StdinFile = Deno.stdin): ByteSource {
  const buffer = new Uint8Array(READ_AHEAD_BYTES);
  let ahead: Uint8Array = nothing;
  let underWay: Promise<void> | undefined;
  let ended = false;
  let failure: unknown;

  const take = (maxBytes: number): SourceChunk => {
    if (ahead.length > 0) {
      const chunk = ahead.subarray(0, maxBytes);
      ahead = ahead.subarray(chunk.length);
      return chunk;
    }
    if (failure !== undefined) throw failure;
    return ended ? undefined : nothing;
  };
  const ready = () => ahead.length > 0 || ended || failure !== undefined;
  const fillSync = () => {
    try {
      settle(readWaiting(file, buffer));
    } catch (error) {
      failure = error;
    }
  };
  const settle = (count: number | null) => {
    if (count === null) ended = true;
    else ahead = buffer.subarray(0, count);
  };
  const wait = (): Promise<void> => {
    if (ready()) return Promise.resolve();
    underWay ??= readPatiently(file, buffer).then(settle, (error) => void (failure = error)).finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
  return {
    read: take,
    blockingRead(maxBytes) {
      if (!ready() && underWay !== undefined) {
        throw new Deno.errors.WouldBlock("Read stdin: a read ahead is under way, poll first");
      }
      if (!ready()) fillSync();
      return take(maxBytes);
    },
    ready,
    wait,
    blockUntilReady() {
      if (!ready() && underWay !== undefined) return false;
      if (!ready()) fillSync();
      return true;
    },
  };
}

/** The process's own stdout (1) or stderr (2) as a sink: takes every byte, waiting where the reader is slow. */
export function inheritedSink(
  descriptor: 1 | 2,
  file: StdoutFile = descriptor === 1 ? Deno.stdout : Deno.stderr,
): ByteSink {
  const isTerminal = file.isTerminal();
  return {
    budget: () => OUTPUT_BUDGET_BYTES,
    write(bytes) {
      for (let at = 0; at < bytes.length;) {
        const rest = bytes.subarray(at);
        at += put(file, descriptor === 1 ? stdoutSegment(rest, isTerminal) : rest, descriptor === 1);
      }
    },
  };
}

/** A source that is at its end. */
export function closedSource(): ByteSource {
  return { read: () => undefined, blockingRead: () => undefined, ready: () => true, wait: () => Promise.resolve() };
}

/** A sink that nobody reads: every write answers `closed`. */
export function closedSink(): ByteSink {
  return {
    budget: () => OUTPUT_BUDGET_BYTES,
    write() {
      throw new SinkClosed("Write output: stdio is not granted");
    },
  };
}

/**
 * The head of `bytes` of which, should the descriptor be non-blocking and full, it is known whether Rust's line writer
 * took it: a short piece without a newline always ends in its buffer, anything else goes straight to the system, which
 * takes the whole of it or nothing (a pipe, up to 4096 bytes; a terminal, one byte).
 */
function stdoutSegment(bytes: Uint8Array, isTerminal: boolean): Uint8Array {
  if (isTerminal) {
    const newline = bytes.indexOf(NEWLINE);
    return newline < 0 ? bytes : bytes.subarray(0, Math.max(newline, 1));
  }
  const head = bytes.subarray(0, ATOMIC_BYTES);
  const newline = head.lastIndexOf(NEWLINE);
  return newline < 0 ? head : head.subarray(0, newline + 1);
}

/** Writes some of `segment`: how many bytes. @throws SinkClosed */
function put(file: StdoutFile, segment: Uint8Array, isLineBuffered: boolean): number {
  for (let pauseMs = FIRST_PAUSE_MS;; pauseMs = longer(pauseMs)) {
    try {
      return file.writeSync(segment);
    } catch (error) {
      if (error instanceof Deno.errors.BrokenPipe) throw new SinkClosed("Write output: its reader is gone");
      if (!isTryAgain(error)) throw error;
      sleep(pauseMs);
      if (isLineBuffered && isHeldBack(segment)) {
        put(file, nothing, true); // pushes it out
        return segment.length;
      }
    }
  }
}

/** Is this piece, when a write of it says EAGAIN, in the line writer's buffer all the same? */
function isHeldBack(segment: Uint8Array): boolean {
  return segment.length > 0 && segment.length < LINE_BUFFER_BYTES && !segment.includes(NEWLINE);
}

function readWaiting(file: StdinFile, buffer: Uint8Array): number | null {
  for (let pauseMs = FIRST_PAUSE_MS;; pauseMs = longer(pauseMs)) {
    try {
      return file.readSync(buffer);
    } catch (error) {
      if (!isTryAgain(error)) throw error;
      sleep(pauseMs);
    }
  }
}

async function readPatiently(file: StdinFile, buffer: Uint8Array): Promise<number | null> {
  for (let pauseMs = FIRST_PAUSE_MS;; pauseMs = longer(pauseMs)) {
    try {
      return await file.read(buffer);
    } catch (error) {
      if (!isTryAgain(error)) throw error;
      await new Promise((done) => setTimeout(done, pauseMs));
    }
  }
}

function isTryAgain(error: unknown): boolean {
  return error instanceof Deno.errors.WouldBlock || error instanceof Deno.errors.Interrupted;
}

function longer(pauseMs: number): number {
  return Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
}

const sleeper = new Int32Array(new SharedArrayBuffer(4));

function sleep(ms: number): void {
  Atomics.wait(sleeper, 0, 0, ms);
}
