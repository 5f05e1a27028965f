import { assertEquals, assertThrows } from "@std/assert";
import { HOSTED } from "../hosted.ts";
import { thrown } from "../host_fixture.ts";
import { OutputStream } from "../output_stream.ts";
import { refusal } from "./net_fixture.ts";
import { QUEUE_BYTES, QueuedSink } from "./queued_sink.ts";
import { utf8 } from "./stream_fixture.ts";

Deno.test("queued sink: it takes what it has room for, exactly, and a consumer makes room again", async () => {
  const sink = new QueuedSink();
  const stream = new OutputStream(HOSTED, sink);
  assertEquals([stream.checkWrite(), stream.subscribe().ready()], [BigInt(QUEUE_BYTES), true]);
  stream.write(new Uint8Array(QUEUE_BYTES));
  assertEquals([stream.checkWrite(), stream.subscribe().ready()], [0n, false]);
  assertThrows(() => stream.write(new Uint8Array(1)), Error, "more than check-write allows");
  assertThrows(() => stream.writeZeroes(1n), Error, "more than check-write allows");
  assertEquals((await sink.take())?.length, QUEUE_BYTES);
  // What was taken is under way, and counts until the next is asked for.
  assertEquals(stream.checkWrite(), 0n);
  const next = sink.take();
  assertEquals(stream.checkWrite(), BigInt(QUEUE_BYTES));
  stream.write(utf8("x"));
  assertEquals(await next, utf8("x"));
});

Deno.test("queued sink: a blocking write waits for a consumer, and a flush for all to be written", async () => {
  const sink = new QueuedSink();
  const stream = new OutputStream(HOSTED, sink);
  const first = sink.take();
  let written = 0;
  const writing = Promise.resolve(stream.blockingWriteAndFlush(new Uint8Array(200_000))).then(() => written = 200_000);
  let taken = (await first)!.length;
  for (; taken < 200_000; taken += (await sink.take())!.length) assertEquals(written, 0);
  const after = sink.take();
  await writing;
  assertEquals([taken, written], [200_000, 200_000]);
  await stream.blockingFlush();
  const zeroes = Promise.resolve(stream.blockingWriteZeroesAndFlush(70_000n));
  let count = (await after)!.length;
  while (count < 70_000) count += (await sink.take())!.length;
  void sink.take().catch(() => {});
  await zeroes;
  sink.fail(new Error("over"));
});

Deno.test("queued sink: a failure wakes who waits, is told once, and then the stream is closed; an end is no failure", async () => {
  const sink = new QueuedSink();
  const stream = new OutputStream(HOSTED, sink);
  stream.write(new Uint8Array(QUEUE_BYTES));
  const waiting = refusal(() => stream.blockingWriteAndFlush(utf8("x")));
  sink.fail(new Error("gone"));
  assertEquals(((await waiting) as { tag: string }).tag, "last-operation-failed");
  assertEquals(thrown(() => stream.checkWrite()), { tag: "closed" });
  const ended = new QueuedSink();
  const other = new OutputStream(HOSTED, ended);
  other.write(utf8("last"));
  ended.end();
  assertEquals([await ended.take(), await ended.take()], [utf8("last"), undefined]);
  assertEquals(thrown(() => other.write(utf8("x"))), { tag: "closed" });
});
