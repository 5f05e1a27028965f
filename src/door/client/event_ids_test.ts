import { assertEquals } from "@std/assert";
import { EventIds } from "./event_ids.ts";

const TEXT =
  `: hello\n\nid: a-1\ndata: {"x":1}\n\ndata: ${
    "y".repeat(2_000)
  }\n\nid: a-3\r\ndata: z\r\ndata: w\r\n\r\nid: lost\n\n` +
  `id: ${"l".repeat(500)}\ndata: long\n\nevent: error\ndata: {}\n\n`;

Deno.test("EventIds: each event's id in order at every split point; none for one without, and none without an event", async () => {
  const bytes = new TextEncoder().encode(TEXT);
  for (let at = 0; at <= bytes.length; at += at < 120 ? 1 : 97) {
    const ids = new EventIds();
    const body = ReadableStream.from([bytes.slice(0, at), bytes.slice(at)]) as ReadableStream<Uint8Array>;
    const passed = await new Response(ids.watch(body) as BodyInit).text();
    assertEquals(passed, TEXT);
    const taken = [ids.take(), ids.take(), ids.take(), ids.take(), ids.take(), ids.take()];
    assertEquals([at, ...taken, ids.isError], [at, "a-1", undefined, "a-3", undefined, undefined, undefined, true]);
  }
});
