/** Small wrongs done to bytes, and to text as bytes. */
import fc from "fast-check";
import { joinBytes } from "../../src/component/component_fixture.ts";

/** One wrong. `at` and `from` are folded into the length of what they are done to. */
export interface ByteMutation {
  readonly kind: "flip" | "set" | "cut" | "drop" | "repeat" | "insert" | "overwrite" | "move";
  readonly at: number;
  readonly from: number;
  readonly length: number;
  readonly bytes: Uint8Array;
}

/** Numbers as LEB128 that lie, overflow, or are longer than they need be. */
const LEB_EXTREMES = [
  [0xff, 0xff, 0xff, 0xff, 0x0f],
  [0xff, 0xff, 0xff, 0xff, 0x7f],
  [0x80, 0x80, 0x80, 0x80, 0x00],
  [0x80, 0x80, 0x80, 0x80, 0x08],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
  [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00],
  [0x7f],
  [0x40],
  [0x00],
  [0xff, 0x7f],
  [0x80, 0x80, 0x04],
  [0x81, 0x80, 0x04],
].map((bytes) => Uint8Array.from(bytes));

/** Pieces that are put in beside random bytes and {@link LEB_EXTREMES}: what the format at hand takes as words. */
export function byteMutation(pieces: readonly (string | Uint8Array)[] = []): fc.Arbitrary<ByteMutation> {
  const encoder = new TextEncoder();
  const words = pieces.map((piece) => typeof piece === "string" ? encoder.encode(piece) : piece);
  return fc.record({
    kind: fc.constantFrom("flip", "set", "cut", "drop", "repeat", "insert", "overwrite", "move"),
    at: fc.oneof(fc.nat(64), fc.nat(0x7fff_ffff)),
    from: fc.nat(0x7fff_ffff),
    length: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 1, max: 8 }) }, fc.integer({ min: 1, max: 4096 })),
    bytes: fc.oneof(
      fc.constantFrom(...LEB_EXTREMES),
      fc.uint8Array({ minLength: 1, maxLength: 8 }),
      ...(words.length === 0 ? [] : [fc.constantFrom(...words)]),
    ),
  });
}

/** The bytes with all wrongs done, one after the other. */
export function mutateBytes(bytes: Uint8Array, mutations: readonly ByteMutation[]): Uint8Array {
  return mutations.reduce(mutateOnce, bytes);
}

function mutateOnce(bytes: Uint8Array, { kind, at, from, length, bytes: piece }: ByteMutation): Uint8Array {
  const place = at % (bytes.length + 1);
  const behind = bytes.subarray(place);
  const head = bytes.subarray(0, place);
  switch (kind) {
    case "flip":
      return joinBytes([head, behind.subarray(0, 1).map((byte) => byte ^ (1 << (length & 7))), behind.subarray(1)]);
    case "set":
      return joinBytes([head, behind.subarray(0, 1).map(() => piece[0]!), behind.subarray(1)]);
    case "cut":
      return head;
    case "drop":
      return joinBytes([head, behind.subarray(length)]);
    case "repeat":
      return joinBytes([head, behind.subarray(0, length), behind]);
    case "insert":
      return joinBytes([head, piece, behind]);
    case "overwrite":
      return joinBytes([head, piece, behind.subarray(piece.length)]);
    case "move": {
      const start = from % (bytes.length + 1);
      return joinBytes([head, bytes.subarray(start, start + length), behind]);
    }
  }
}
