/**
 * The key to the constructors of host resources. A component chooses its own import types, so it can ask for
 * `[constructor]descriptor` with arguments of its choice: without the key nothing is made.
 */
export const HOSTED: unique symbol = Symbol("hosted");

/** @throws TypeError when a guest, and not this room, calls the constructor of a host resource. */
export function requireHosted(key: symbol): void {
  if (key !== HOSTED) throw new TypeError("Make a resource: only the host makes resources of this kind");
}

/**
 * A length that a guest gave, cut to `cap`. The check of the type is for components that declare other types than
 * WASI's.
 * @throws TypeError when it is no u64.
 */
export function cappedLength(length: bigint, cap: number): number {
  if (typeof length !== "bigint") throw new TypeError("Take a length: found another type than u64");
  return length > BigInt(cap) ? cap : Number(length);
}

/** Bytes that a guest gave. @throws TypeError when it is another type. */
export function requireBytes(bytes: Uint8Array): Uint8Array {
  if (!(bytes instanceof Uint8Array)) throw new TypeError("Take bytes: found another type than list<u8>");
  return bytes;
}
