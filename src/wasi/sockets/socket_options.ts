import type { NetworkError } from "./network_error.ts";

const MAX_U32 = 2 ** 32 - 1;

/**
 * Socket options that a guest may set and read back. They shape a connection of the guest's own network stack; here the
 * connection beyond the gate is the gate's, so they are kept and change nothing.
 */
export class SocketOptions {
  keepAlive = false;
  idleTime = 7_200_000_000_000n;
  interval = 75_000_000_000n;
  count = 9;
  hopLimit = 64;
  receiveBuffer = 65_536n;
  sendBuffer = 65_536n;

  /** The same values, for a socket that inherits them. */
  copy(): SocketOptions {
    return Object.assign(new SocketOptions(), this);
  }
}

/** @throws NetworkError `invalid-argument` for 0 */
export function positive(value: bigint): bigint {
  if (typeof value !== "bigint") throw new TypeError("Set an option: found another type than u64");
  if (value === 0n) throw "invalid-argument" satisfies NetworkError;
  return value;
}

/** @throws NetworkError `invalid-argument` for 0 */
export function positiveNumber(value: number): number {
  if (!Number.isInteger(value) || value < 0 || value > MAX_U32) {
    throw new TypeError("Set an option: found another type");
  }
  if (value === 0) throw "invalid-argument" satisfies NetworkError;
  return value;
}
