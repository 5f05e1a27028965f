/**
 * The WASI functions through which a guest may wait. Only these are linked as suspending (JSPI), so that every other
 * call stays a plain synchronous one. Versions are left out: one host serves every 0.2.x.
 *
 * Blocking reads, writes, skips and splices are among them only for a component that imports the network: linked as
 * suspending, a call that the host answers at once costs 18 µs instead of 5 (26 with a promise), and a guest has its
 * thread to itself, so that its host may block it. What comes from the network comes while the thread is free.
 */

/** Imports of every component whose host function may return a promise; every other one must answer at once. */
export const ASYNC_IMPORTS: readonly string[] = [
  "wasi:io/poll#poll",
  "wasi:io/poll#[method]pollable.block",
];

/** What is suspending besides for a component that imports the network. */
export const NETWORK_ASYNC_IMPORTS: readonly string[] = [
  ...["blocking-read", "blocking-skip"].map((name) => `wasi:io/streams#[method]input-stream.${name}`),
  ...["blocking-write-and-flush", "blocking-flush", "blocking-write-zeroes-and-flush", "blocking-splice"]
    .map((name) => `wasi:io/streams#[method]output-stream.${name}`),
  // A bind of UDP takes no time: wasi-libc gives an error where its socket does not block and this is not done at once.
  "wasi:sockets/udp#[method]udp-socket.finish-bind",
];

/** What is suspending besides for a component that asks boll itself for something: the answer comes from another process. */
export const HOST_ASYNC_IMPORTS: readonly string[] = ["boll:capsule/host#delegate", "boll:capsule/host#request-input"];

/** Exports that must be awaited, because an import of these lists may suspend below them. */
export const ASYNC_EXPORTS: readonly string[] = [
  "wasi:cli/run#run",
  "wasi:http/incoming-handler#handle",
  "boll:capsule/tool#describe",
  "boll:capsule/tool#invoke",
];

/** The suspending imports of a component with these imports: `wasi:http/types` and `wasi:sockets/tcp@0.2.3` count. */
export function asyncImportsOf(imports: readonly string[]): readonly string[] {
  const isOfNetwork = imports.some((name) => /^wasi:(http|sockets)\//.test(name));
  const asksHost = imports.some((name) => /^boll:capsule\/host(@|$)/.test(name));
  return [
    ...ASYNC_IMPORTS,
    ...(isOfNetwork ? NETWORK_ASYNC_IMPORTS : []),
    ...(asksHost ? HOST_ASYNC_IMPORTS : []),
  ];
}
