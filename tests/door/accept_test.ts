import { assertEquals } from "@std/assert";
import type { DoorWork, TaskVoice } from "../../src/door/mod.ts";
import { ManualClock } from "./manual_clock.ts";
import { OWNER, runDoor, type RunningDoor } from "./running_door.ts";
import { callHeaders, message, openStream, request, WireConnection } from "./wire_client.ts";

const READERS = 20;
/** One more without a token would have to wait until the oldest had its time. */
const STRANGERS = 31;
const DEPTH = 200;

Deno.test("a message is accepted at once: it waits for no work, no reader who takes nothing, no stranger and no timer", async () => {
  const begun = Promise.withResolvers<TaskVoice>();
  const work: DoorWork = {
    run({ signal }, voice) {
      begun.resolve(voice);
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve({ state: "canceled" })));
    },
  };
  // Nobody moves this clock: what waits for a time waits for ever.
  await using running = await runDoor({ work, clock: new ManualClock(), queueDepth: DEPTH });
  const { port, events } = running;
  using known = await WireConnection.open(port);
  const first = await submit(known, port, "runs");
  const voice = await begun.promise;
  const readers = await Promise.all(
    Array.from({ length: READERS }, () => openStream(port, "SubscribeToTask", { id: first.id })),
  );
  for (const reader of readers) await reader.head();
  const strangers = await Promise.all(Array.from({ length: STRANGERS }, () => WireConnection.open(port)));
  const filler = "x".repeat(64 * 1024);
  while (droppedBy(running) < READERS) {
    voice.working(filler);
    // Its readers are written to in turns of their own.
    await call(known, port, "GetTask", { id: first.id, historyLength: 0 });
  }
  const states = [];
  for (let count = 0; count <= DEPTH; count++) states.push((await submit(known, port, `${count}`)).status.state);
  assertEquals(states, [...Array(DEPTH).fill("TASK_STATE_SUBMITTED"), "TASK_STATE_REJECTED"]);
  assertEquals(events.filter(({ event }) => event === "task_start").length, 1);
  for (const connection of [...readers, ...strangers]) connection[Symbol.dispose]();
});

function droppedBy({ events }: RunningDoor): number {
  return events.reduce((sum, event) => sum + (event.event === "readers_dropped" ? event.count : 0), 0);
}

async function submit(connection: WireConnection, port: number, text: string) {
  const params = { ...message(text), configuration: { returnImmediately: true } };
  return (await call(connection, port, "SendMessage", params)).task;
}

/** Over one connection, one after the other. */
async function call(connection: WireConnection, port: number, method: string, params: unknown) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  await connection.send(request(port, { headers: callHeaders(OWNER), body }));
  return JSON.parse((await connection.reply()).body).result;
}
