import { type ByteSink, type ByteSource, SinkClosed, type SourceChunk } from "./ports.ts";
import { type AsyncStdin, ownReadAhead, READ_AHEAD_BYTES, type ReadAhead } from "./files/read_ahead.ts";
import { FIRST_PAUSE_MS, isTryAgain, longerPause, sleep } from "./try_again.ts";

const OUTPUT_BUDGET_BYTES = 1024 * 1024;
// Rust's line writer, through which Deno writes stdout: what it buffers, and what a pipe takes whole or not at all.
const LINE_BUFFER_BYTES = 1024;
const ATOMIC_BYTES = 4096;
const NEWLINE = 10;

const nothing = new Uint8Array(0);

/** What {@link inheritedStdin} needs of Deno's stdin; tests bring their own. */
export interface StdinFile extends AsyncStdin {
  readSync(bytes: Uint8Array): number | null;
}

/** What {@link inheritedSink} needs of Deno's stdout and stderr; tests bring their own. */
export interface StdoutFile {
  writeSync(bytes: Uint8Array): number;
  isTerminal(): boolean;
}

/**
 * The process's own stdin as a source. Reading holds up the thread; only a guest that waits for stdin *and* something
 * else starts a read ahead (≤ 64 KiB), which cannot be taken back. A blocking read that finds one under way waits for
 * it, or says `would-block` where `readAhead` is of the guest's own thread; no byte is lost or comes twice.
 */
export function inheritedStdin(
  file: StdinFile = Deno.stdin,
  readAhead: ReadAhead = ownReadAhead(file),
): ByteSource {
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
  const settle = (read: () => number | null) => {
    try {
      const count = read();
      if (count === null) ended = true;
      else ahead = buffer.subarray(0, count);
    } catch (error) {
      failure = error;
    }
  };
  const collect = () => {
    underWay = undefined;
    settle(() => readAhead.take(buffer));
  };
  /** Holds up the thread until ready; false when it cannot. */
  const fill = (): boolean => {
    if (ready()) return true;
    if (underWay === undefined) settle(() => readWaiting(file, buffer));
    else if (readAhead.canBlock) collect();
    return ready();
  };
  const wait = (): Promise<void> => {
    if (ready()) return Promise.resolve();
    if (underWay !== undefined) return underWay;
    // Collected by a blocking read meanwhile, it has nothing to tell any more.
    const mine: Promise<void> = readAhead.start().then(() => {
      if (underWay === mine) collect();
    });
    return underWay = mine;
  };
  return {
    read: take,
    blockingRead(maxBytes) {
      if (fill()) return take(maxBytes);
      throw new Deno.errors.WouldBlock("Read stdin: a read ahead is under way, poll first");
    },
    ready,
    wait,
    blockUntilReady: fill,
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
  for (let pauseMs = FIRST_PAUSE_MS;; pauseMs = longerPause(pauseMs)) {
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
  for (let pauseMs = FIRST_PAUSE_MS;; pauseMs = longerPause(pauseMs)) {
    try {
      return file.readSync(buffer);
    } catch (error) {
      if (!isTryAgain(error)) throw error;
      sleep(pauseMs);
    }
  }
}
