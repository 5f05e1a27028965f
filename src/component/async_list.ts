/**
 * The WASI functions through which a guest may wait. Only these are linked as suspending (JSPI), so that every other
 * call stays a plain synchronous one. Versions are left out: one host serves every 0.2.x.
 *
 * Blocking reads, writes, skips and splices are not among them: linked as suspending, a call that the host answers at
 * once costs 18 µs instead of 5 (26 with a promise), and a guest has its thread to itself, so that its host may block
 * it. A wait on more than one thing goes through `poll`.
 */

/** Imports whose host function may return a promise; every other host function must answer at once. */
export const ASYNC_IMPORTS: readonly string[] = [
  "wasi:io/poll#poll",
  "wasi:io/poll#[method]pollable.block",
];

/** Exports that must be awaited, because an import in {@link ASYNC_IMPORTS} may suspend below them. */
export const ASYNC_EXPORTS: readonly string[] = ["wasi:cli/run#run"];
