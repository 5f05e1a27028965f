import { FIRST_PAUSE_MS, isTryAgain, longerPause } from "../try_again.ts";

/** Most bytes that are read ahead of the guest: what a pipe holds. */
export const READ_AHEAD_BYTES = 65_536;

/** What a read ahead needs of Deno's stdin; tests bring their own. */
export interface AsyncStdin {
  read(bytes: Uint8Array): Promise<number | null>;
}

/** One read of stdin that goes on while the guest does something else; it cannot be taken back. */
export interface ReadAhead {
  /** Starts it; settles (never rejects) when its answer is there. */
  start(): Promise<void>;
  /** May {@link take} be called before the answer is there, and hold up the thread for it? */
  readonly canBlock: boolean;
  /** The answer, once: bytes in `buffer`, or `null` at the end. @throws the error of the read */
  take(buffer: Uint8Array): number | null;
}

/** A read ahead on the guest's own thread: its answer comes only while the guest waits in a poll. */
export function ownReadAhead(file: AsyncStdin): ReadAhead {
  let answer: { bytes: Uint8Array | null } | { error: unknown } = { bytes: null };
  return {
    canBlock: false,
    async start() {
      const buffer = new Uint8Array(READ_AHEAD_BYTES);
      try {
        const count = await readPatiently(file, buffer);
        answer = { bytes: count === null ? null : buffer.subarray(0, count) };
      } catch (error) {
        answer = { error };
      }
    },
    take(buffer) {
      if ("error" in answer) throw answer.error;
      if (answer.bytes === null) return null;
      buffer.set(answer.bytes);
      return answer.bytes.length;
    },
  };
}

// Memory shared by two threads: a word of state, a word of length, then bytes (of a failure: its message).
const [STATE, LENGTH, HEADER_BYTES] = [0, 1, 8];
const [IDLE, ASKED, BYTES, END, FAILED] = [0, 1, 2, 3, 4];

/** The memory through which another thread answers {@link sharedReadAhead}. */
export function shareReadAhead(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEADER_BYTES + READ_AHEAD_BYTES);
}

/**
 * A read ahead that another thread makes when `ask` tells it to; the guest's thread can also wait for it held up. `ask`
 * settles when it was told of the answer (`Atomics.waitAsync` does not wake Deno's event loop).
 */
export function sharedReadAhead(shared: SharedArrayBuffer, ask: () => Promise<void>): ReadAhead {
  const words = new Int32Array(shared, 0, 2);
  return {
    canBlock: true,
    start() {
      Atomics.store(words, STATE, ASKED);
      return ask();
    },
    take(buffer) {
      Atomics.wait(words, STATE, ASKED);
      const state = Atomics.exchange(words, STATE, IDLE);
      if (state === END) return null;
      const bytes = new Uint8Array(shared, HEADER_BYTES, words[LENGTH]!);
      if (state === FAILED) throw new Error(new TextDecoder().decode(bytes.slice()));
      buffer.set(bytes);
      return bytes.length;
    },
  };
}

/** The other thread's half: makes the one read that was asked for. What was not asked for is never read. */
export async function answerReadAhead(shared: SharedArrayBuffer, file: AsyncStdin = Deno.stdin): Promise<void> {
  const words = new Int32Array(shared, 0, 2);
  const bytes = new Uint8Array(shared, HEADER_BYTES);
  const buffer = new Uint8Array(READ_AHEAD_BYTES);
  let state;
  try {
    const count = await readPatiently(file, buffer);
    state = count === null ? END : BYTES;
    words[LENGTH] = count ?? 0;
    bytes.set(buffer.subarray(0, count ?? 0));
  } catch (error) {
    state = FAILED;
    const message = error instanceof Error ? error.message : String(error);
    words[LENGTH] = new TextEncoder().encodeInto(message, buffer).written;
    bytes.set(buffer.subarray(0, words[LENGTH]));
  }
  Atomics.store(words, STATE, state);
  Atomics.notify(words, STATE);
}

async function readPatiently(file: AsyncStdin, buffer: Uint8Array): Promise<number | null> {
  for (let pauseMs = FIRST_PAUSE_MS;; pauseMs = longerPause(pauseMs)) {
    try {
      return await file.read(buffer);
    } catch (error) {
      if (!isTryAgain(error)) throw error;
      await new Promise((done) => setTimeout(done, pauseMs));
    }
  }
}
