/** The first pause after EAGAIN, ms; each next one is {@link longerPause}. */
export const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 20;

const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** Does the system say "not now" (EAGAIN, EINTR)? */
export function isTryAgain(error: unknown): boolean {
  return error instanceof Deno.errors.WouldBlock || error instanceof Deno.errors.Interrupted;
}

/** The pause after a pause, ms. */
export function longerPause(ms: number): number {
  return Math.min(ms * 2, LONGEST_PAUSE_MS);
}

/** Holds up the thread. */
export function sleep(ms: number): void {
  Atomics.wait(sleeper, 0, 0, ms);
}
