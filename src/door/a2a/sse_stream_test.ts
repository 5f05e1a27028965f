import { assertEquals } from "@std/assert";
import { SYSTEM_CLOCK } from "../clock.ts";
import type { WriteBody } from "../http/http_message.ts";
import { EventLog } from "../tasks/event_log.ts";
import { sseReply } from "./sse_stream.ts";

Deno.test("sseReply: each piece is made when there is room for it, and leaves once it was taken", async () => {
  const log = new EventLog({ replayEvents: 9, replayBytes: 1_000, readerEvents: 9 });
  const reader = log.subscribe();
  log.publish("later", false);
  log.end();
  const told: string[] = [];
  const room = {
    enter: (bytes: number) => {
      told.push(`enter ${bytes}`);
      return Promise.resolve().then(() => void told.push("entered"));
    },
    leave: () => void told.push("leave"),
  };
  const first = (name: string, bytes: number) => ({ bytes, json: () => (told.push(`make ${name}`), name) });
  const { body } = sseReply({
    reader,
    first: { id: "1", told: [first("a", 7), first("b", 8)] },
    wrap: (json) => json,
    lagged: "",
    room,
    heartbeatMs: 60_000,
    clock: SYSTEM_CLOCK,
  });
  await (body as WriteBody)(async (bytes) => {
    await Promise.resolve();
    told.push(`wrote ${new TextDecoder().decode(bytes).trim().replaceAll("\n", " ")}`);
  });
  assertEquals(told, [
    ...["enter 7", "entered", "make a", "wrote data: a", "leave"],
    ...["enter 8", "entered", "make b", "wrote id: 1 data: b", "leave"],
    ...["enter 5", "entered", `wrote id: ${log.position} data: later`, "leave"],
  ]);
});
