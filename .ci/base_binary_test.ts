import { assertEquals, assertThrows } from "@std/assert";
import { cutBase } from "./base_binary.ts";

/** A base of three bytes with `appended` bytes behind it, of which the last 8 say `claimed`. */
function executable(appended: number, claimed: bigint): Uint8Array {
  const bytes = new Uint8Array(3 + appended).fill(7);
  new DataView(bytes.buffer).setBigUint64(bytes.length - 8, claimed, true);
  return bytes;
}

Deno.test("cutBase cuts off exactly what was appended, and refuses a length that does not fit", () => {
  assertEquals(cutBase(executable(20, 20n)), new Uint8Array([7, 7, 7]));
  assertEquals(cutBase(executable(8, 8n)), new Uint8Array([7, 7, 7]));
  for (const claimed of [0n, 7n, 23n, 24n, 2n ** 64n - 1n]) {
    assertThrows(() => cutBase(executable(20, claimed)), Error, `found ${claimed} bytes appended, wanted 8 to 22`);
  }
  assertThrows(() => cutBase(new Uint8Array(7)), Error, "found 0 bytes appended");
});
