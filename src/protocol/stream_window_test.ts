import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { ChunkQueue, CreditWindow, MAX_CHUNK_BYTES, STREAM_WINDOW_BYTES } from "./mod.ts";

/** Whether a promise is still open once everything that is due has run. */
async function isOpen(promise: Promise<unknown>): Promise<boolean> {
  const open = Symbol();
  const later = new Promise((resolve) => setTimeout(() => resolve(open)));
  return await Promise.race([promise, later]) === open;
}

Deno.test("CreditWindow: gives one window and no more, until a credit comes; never more than one chunk", async () => {
  const window = new CreditWindow();
  for (let at = 0; at < STREAM_WINDOW_BYTES; at += MAX_CHUNK_BYTES) {
    assertEquals(await window.take(STREAM_WINDOW_BYTES), MAX_CHUNK_BYTES);
  }
  const waiting = window.take(10);
  assertEquals(await isOpen(waiting), true);
  window.add(7);
  assertEquals(await waiting, 7);
  window.add(10 * STREAM_WINDOW_BYTES);
  let sum = 0;
  while (sum < STREAM_WINDOW_BYTES) sum += await window.take(STREAM_WINDOW_BYTES);
  assertEquals([sum, await isOpen(window.take(1))], [STREAM_WINDOW_BYTES, true]);
});

Deno.test("ChunkQueue: pieces in order, a credit for each that was taken, none behind the end", async () => {
  const credits: number[] = [];
  const queue = new ChunkQueue((bytes) => credits.push(bytes));
  const first = queue.pull();
  queue.push(new Uint8Array([1]), false);
  queue.push(new Uint8Array([2, 3]), false);
  assertEquals([...(await first)!], [1]);
  assertEquals([[...(await queue.pull())!], credits], [[2, 3], [1, 2]]);
  const last = queue.pull();
  assertEquals(await isOpen(last), true);
  queue.push(new Uint8Array(0), true);
  assertEquals([await last, await queue.pull(), credits.length], [undefined, undefined, 2]);
  assertEquals(assertThrows(() => queue.push(new Uint8Array(1), true), CapsuleError).code, "protocol.unexpected");
});

Deno.test("ChunkQueue: a sender that ignores the window is refused, one that fills it is not", () => {
  const queue = new ChunkQueue(() => {});
  for (let at = 0; at < STREAM_WINDOW_BYTES; at += MAX_CHUNK_BYTES) queue.push(new Uint8Array(MAX_CHUNK_BYTES), false);
  assertEquals(assertThrows(() => queue.push(new Uint8Array(1), false), CapsuleError).code, "protocol.unexpected");
});

Deno.test("ChunkQueue: a failure wakes who waits and drops what is queued; the first one stays", async () => {
  const queue = new ChunkQueue(() => {});
  const waiting = queue.pull();
  queue.fail(new RangeError("gone"));
  await assertRejects(() => waiting, RangeError, "gone");
  queue.fail(new TypeError("later"));
  await assertRejects(() => queue.pull(), RangeError, "gone");
});
