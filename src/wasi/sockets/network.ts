import { HOSTED, requireHosted } from "../hosted.ts";

/** `network` of `wasi:sockets/network`: there is one, and what it reaches are the entries. */
export class Network {
  constructor(key: typeof HOSTED) {
    requireHosted(key);
  }
}

/** @throws TypeError when a guest gave another kind of resource */
export function requireNetwork(network: Network): void {
  if (!(network instanceof Network)) throw new TypeError("Take a network: found another type");
}
