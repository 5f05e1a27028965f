import { ByteReader } from "./byte_reader.ts";

/**
 * The module with one entry more in each section named: `entries` is given how many each section has, and answers
 * section id → the encoded entry. A section that the module does not have gets none.
 */
export function appendEntries(
  bytes: Uint8Array,
  entries: (count: (section: number) => number) => ReadonlyMap<number, Uint8Array>,
): Uint8Array {
  const counts = new Map<number, number>();
  new ByteReader(bytes).sections((id, content) => void (id !== 0 && counts.set(id, content.u32())));
  const added = entries((section) => counts.get(section) ?? 0);
  const parts = [bytes.subarray(0, 8)];
  new ByteReader(bytes).sections((id, content, start, end) => {
    const entry = added.get(id);
    if (entry === undefined) return void parts.push(bytes.subarray(start, end));
    const count = encodeUnsigned(content.u32() + 1);
    const rest = content.rest();
    const length = count.length + rest.length + entry.length;
    parts.push(Uint8Array.of(id, ...encodeUnsigned(length), ...count), rest, entry);
  });
  return joinBytes(parts);
}

/** An unsigned LEB128, without bit operations, which would cut at 32 bits. */
export function encodeUnsigned(value: number): number[] {
  const bytes: number[] = [];
  do {
    const low = value % 128;
    value = Math.floor(value / 128);
    bytes.push(value > 0 ? low | 128 : low);
  } while (value > 0);
  return bytes;
}

/** A signed LEB128 of a number from 0. */
export function encodeSigned(value: number): number[] {
  const bytes = encodeUnsigned(value);
  const last = bytes.pop()!;
  return last < 64 ? [...bytes, last] : [...bytes, last | 128, 0];
}

/** One array of many. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
