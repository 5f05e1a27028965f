import { assertEquals, assertThrows } from "@std/assert";
import { cutBelowAttic, insertAttic, packAttic } from "./attic.ts";

const BASE = new Uint8Array([7, 7, 7]);
const FILES = new Map([["a.pack", new Uint8Array([1, 2])], ["b/empty", new Uint8Array(0)], ["c", new Uint8Array([3])]]);

/** What `deno compile` makes: a base, and behind it a program of `length` bytes, which the last 8 say. */
function compiled(length: number): Uint8Array {
  const bytes = new Uint8Array(BASE.length + length).fill(9);
  bytes.set(BASE);
  new DataView(bytes.buffer).setBigUint64(bytes.length - 8, BigInt(length), true);
  return bytes;
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

Deno.test("packAttic: each file lies where the index says; insertAttic puts it behind the base, cutBelowAttic cuts it off", () => {
  const { bytes, index } = packAttic(FILES);
  assertEquals(index.files, { "a.pack": [0, 2], "b/empty": [2, 0], c: [2, 1] });
  assertEquals(bytes.subarray(0, 3), new Uint8Array([1, 2, 3]));
  const executable = join(insertAttic(compiled(20), bytes));
  assertEquals(executable.subarray(3 + bytes.length), compiled(20).subarray(3));
  assertEquals(cutBelowAttic(executable), BASE);
  assertEquals(packAttic(FILES), { bytes, index });
});

Deno.test("cutBelowAttic refuses an executable without an attic, and one whose attic is torn", () => {
  const { bytes } = packAttic(FILES);
  for (const at of [0, 2, 3, bytes.length - 8, bytes.length - 1]) {
    const torn = bytes.slice();
    torn[at]! ^= 1;
    assertThrows(() => cutBelowAttic(join(insertAttic(compiled(20), torn))), Error, "found no attic");
  }
  const long = new Uint8Array(100);
  for (const without of [compiled(20), join([long, compiled(20)])]) {
    assertThrows(() => cutBelowAttic(without), Error, "found no attic");
  }
});
