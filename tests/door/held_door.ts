/**
 * What a door holds of what is over: `held-door ROUNDS [FOLDER]` has tasks end in every way, and asks for tasks that never
 * were. Prints how many bytes more the heap holds for each of both, in the order `[task, question]`: of a door that keeps few
 * tasks, and kept all it may before the first look.
 * @module
 */
import { assert } from "@std/assert";
import type { DoorWork } from "../../src/door/mod.ts";
import { heldBytes } from "./held_bytes.ts";
import { OWNER, runDoor } from "./running_door.ts";
import { callHeaders, message, request, WireConnection } from "./wire_client.ts";

const WARM_UP = 100;
/** In a round. */
const TASKS = 5;
const FILLER = "x".repeat(200);
const [rounds, folder] = [Number(Deno.args[0]), Deno.args[1]];

/** Says something and ends; asks first; or waits to be cancelled. */
const work: DoorWork = {
  async run({ text, signal }, voice) {
    if (text.startsWith("ask")) await voice.ask("And?", 3_600_000);
    if (text.startsWith("wait")) {
      voice.working("waiting");
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      return { state: "canceled" };
    }
    voice.output(text);
    voice.artifact({ name: "file", mediaType: "text/plain", bytes: new Uint8Array(100) });
    return { state: "completed", answer: text };
  },
};
await using running = await runDoor({
  work,
  limits: { endedTasks: 64, keptTasks: 64 },
  storage: folder === undefined ? { kind: "memory" } : { kind: "folder", path: folder },
  record: () => {},
});
using staying = await WireConnection.open(running.port);
let newId = 0;
await times(WARM_UP, round);
await times(WARM_UP, unknown);
const forTask = await heldBy(rounds * TASKS, () => times(rounds, round));
const forQuestion = await heldBy(rounds * TASKS, () => times(rounds * TASKS, unknown));
console.log(JSON.stringify([forTask, forQuestion]));

async function heldBy(count: number, action: () => Promise<void>): Promise<number> {
  const before = await heldBytes();
  await action();
  return (await heldBytes() - before) / count;
}

async function times(count: number, action: () => Promise<void>): Promise<void> {
  for (let time = 0; time < count; time++) await action();
}

async function unknown(): Promise<void> {
  const id = `tsk_${(newId++).toString(16).padStart(32, "0")}`;
  assert((await call("GetTask", { id })).error.code === -32001);
}

/** Over one connection that stays but for the streams, as a busy client has it. */
async function round(): Promise<void> {
  const done = await call("SendMessage", message(`do ${FILLER}`));
  assert(done.result.task.status.state === "TASK_STATE_COMPLETED");
  await followed();
  const asking = (await call("SendMessage", message("ask"))).result.task;
  await call("SendMessage", message("answer", { taskId: asking.id, contextId: asking.contextId }));
  const [runs, waits] = [await submit("wait"), await submit("never begins")];
  {
    using _leaves = await open("SubscribeToTask", { id: runs });
  }
  await call("CancelTask", { id: waits });
  await call("CancelTask", { id: runs });
}

/** A stream to its end, and its place taken up again after that. */
async function followed(): Promise<void> {
  let newest = "";
  using stream = await open("SendStreamingMessage", message(`stream ${FILLER}`));
  let id = "";
  for await (const event of stream.events()) {
    newest = event.id ?? newest;
    id = event.data?.result.task?.id ?? id;
  }
  using again = await open("SubscribeToTask", { id }, { "last-event-id": newest.replace(/\d+$/, "1") });
  assert((await Array.fromAsync(again.events())).length > 0);
}

async function submit(text: string): Promise<string> {
  const sent = await call("SendMessage", { ...message(text), configuration: { returnImmediately: true } });
  return sent.result.task.id;
}

async function open(method: string, params: unknown, headers: Record<string, string> = {}): Promise<WireConnection> {
  const stream = await WireConnection.open(running.port);
  await stream.send(requestOf(method, params, headers));
  assert((await stream.head()).status === 200);
  return stream;
}

// deno-lint-ignore no-explicit-any
async function call(method: string, params: unknown): Promise<any> {
  await staying.send(requestOf(method, params));
  return JSON.parse((await staying.reply()).body);
}

function requestOf(method: string, params: unknown, headers: Record<string, string> = {}): string {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return request(running.port, { headers: { ...callHeaders(OWNER), ...headers }, body });
}
