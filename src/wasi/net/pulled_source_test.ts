import { assertEquals } from "@std/assert";
import { HOSTED } from "../hosted.ts";
import { thrown } from "../host_fixture.ts";
import { InputStream } from "../input_stream.ts";
import { OutputStream } from "../output_stream.ts";
import { readAll, refusal } from "./net_fixture.ts";
import { PulledSource } from "./pulled_source.ts";
import { QueuedSink } from "./queued_sink.ts";
import { utf8 } from "./stream_fixture.ts";

function sourceOf(...pieces: (string | Error)[]) {
  const state = { pulls: 0, closed: 0 };
  const pull = () => {
    const piece = pieces[state.pulls++];
    if (piece instanceof Error) return Promise.reject(piece);
    return Promise.resolve(piece === undefined ? undefined : utf8(piece));
  };
  return { state, source: new PulledSource(pull, () => state.closed++) };
}

Deno.test("pulled source: the producer is asked for the next piece only when the last one is taken and more is wanted", async () => {
  const { state, source } = sourceOf("abc", "d");
  const stream = new InputStream(HOSTED, source);
  assertEquals(state.pulls, 0);
  const pollable = stream.subscribe();
  assertEquals([pollable.ready(), state.pulls], [false, 0]);
  await pollable.block();
  assertEquals(state.pulls, 1);
  assertEquals([stream.read(2n), stream.read(2n), state.pulls], [utf8("ab"), utf8("c"), 1]);
  assertEquals([stream.read(2n).length, state.pulls], [0, 2]);
  assertEquals(await stream.blockingSkip(9n), 1n);
  assertEquals(await refusal(() => stream.blockingRead(1n)), { tag: "closed" });
  assertEquals(state, { pulls: 3, closed: 1 });
});

Deno.test("pulled source: a failure comes after the bytes before it; a cut stream is at its end", async () => {
  const failing = new InputStream(HOSTED, sourceOf("a", new Error("gone")).source);
  assertEquals(await failing.blockingRead(9n), utf8("a"));
  assertEquals(((await refusal(() => failing.blockingRead(9n))) as { tag: string }).tag, "last-operation-failed");
  const { source } = sourceOf("a", "b");
  const cut = new InputStream(HOSTED, source);
  assertEquals(await cut.blockingRead(9n), utf8("a"));
  source.cut();
  assertEquals(thrown(() => cut.read(1n)), { tag: "closed" });
});

Deno.test("splice: from a source that is waited for into a sink that is waited for, nothing lost", async () => {
  const stream = new InputStream(HOSTED, sourceOf("hello ", "world").source);
  const sink = new QueuedSink();
  const to = new OutputStream(HOSTED, sink);
  assertEquals(to.splice(stream, 99n), 0n);
  assertEquals([await to.blockingSplice(stream, 3n), await to.blockingSplice(stream, 99n)], [3n, 3n]);
  assertEquals(await readAll(stream), "world");
  assertEquals(await sink.take(), utf8("hello "));
});
