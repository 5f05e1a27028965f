/**
 * Loads a door: 200 readers of one task and one that takes nothing, 64 connections without a token, 50 messages a second,
 * for so many seconds; then says how long accepting took, what the readers missed, and how much memory the door had. Messages
 * are sent when their time comes, whether those before are answered or not; what is measured is from that time to the answer,
 * which is the task as it was accepted.
 *
 * ```sh
 * deno run -A tests/door/load.ts 120                    # the door alone, whose work is nothing
 * deno run -A tests/door/load.ts 100 200 --held --named # 200 messages a second, what its heap holds too, tasks in a folder
 * deno run -A tests/door/load.ts 120 --dist             # dist/boll serve --queue 9999, of a guest
 * ```
 *
 * Finding out what a heap holds stops the door for a moment: with `--held`, times say less.
 *
 * @module
 */
import { type DoorMemory, type LoadTarget, memoryOf, openExecutable, openSource } from "./load_target.ts";
import { startReaders } from "./start_readers.ts";
import { ask, message, request, WireConnection } from "./wire_client.ts";

const READERS = 200;
const STRANGERS = 64;
const TOLD_PER_SECOND = 50;
const SENDERS = 8;
/** After so many messages it is told how much memory the door has. */
const LOOKS = [0, 2_000, 4_000, 6_000, 12_000, 20_000];
const [seconds = 120, perSecond = 50] = Deno.args.filter((word) => !word.startsWith("--")).map(Number);
const [isDist, isNamed, isHeld] = ["--dist", "--named", "--held"].map((word) => Deno.args.includes(word));

await using target = isDist ? await openExecutable() : await openSource({ isNamed: isNamed! });
const memory: ({ messages: number } & DoorMemory)[] = [];
const strangers = await Promise.all(Array.from({ length: STRANGERS }, () => WireConnection.open(target.answering)));
const started = JSON.parse((await ask(target.talking, rpc(target.talk))).body).result.task.id;
const { heard, silent } = await read(target, started);
const accepted = await send(target);
const metrics = (await ask(target.talking, { method: "GET", path: "/metrics", headers: target.headers })).body;
await look(accepted.length);
await ask(target.talking, { method: "POST", path: `/v1/tasks/${started}:cancel`, headers: target.headers });
const { heard: counts, lost } = await heard;
const told = await hearsError(silent);
accepted.sort((a, b) => a - b);
console.log(JSON.stringify(
  {
    messages: accepted.length,
    acceptMs: {
      p50: Math.round(accepted[accepted.length >> 1]! * 10) / 10,
      p99: Math.round(accepted[Math.floor(accepted.length * 0.99)]! * 10) / 10,
      max: Math.round(accepted.at(-1)!),
    },
    heardByEach: [Math.min(...counts), Math.max(...counts)],
    eventsLost: lost,
    slowReaders: { dropped: gauge(target.dropped), told },
    connectionsWithoutToken: { opened: STRANGERS, held: gauge("boll_door_connections_unknown") },
    memory,
  },
  null,
  2,
));
for (const connection of [silent, ...strangers]) connection[Symbol.dispose]();

function rpc(text: string) {
  const params = { ...message(text), configuration: { returnImmediately: true } };
  return { headers: target.headers, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params }) };
}

/** The readers, and one that takes nothing here. */
async function read({ talking: port, headers }: LoadTarget, task: string) {
  const { heard } = await startReaders({ port, headers, task, readers: READERS });
  const silent = await WireConnection.open(port);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SubscribeToTask", params: { id: task } });
  await silent.send(request(port, { headers, body }));
  return { heard, silent };
}

/** Whether the last word of a stream is that its reader was too slow; none comes where no byte was taken for too long. */
async function hearsError(connection: WireConnection): Promise<boolean> {
  let last = "";
  try {
    await connection.head();
    for await (const { type } of connection.events()) last = type;
  } catch { /* it was cut in the middle of an event */ }
  return last === "error";
}

/** From the time of each message to its answer, ms. */
async function send({ answering: port, message }: LoadTarget): Promise<number[]> {
  const startedAt = performance.now();
  const total = seconds * perSecond;
  let next = 0;
  const found = await Promise.all(Array.from({ length: SENDERS }, async () => {
    using connection = await WireConnection.open(port);
    const times: number[] = [];
    for (let count = next++; count < total; count = next++) {
      const at = startedAt + count * 1_000 / perSecond;
      const wait = at - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      if (LOOKS.includes(count)) await look(count);
      await connection.send(request(port, rpc(message(count, count % Math.ceil(perSecond / TOLD_PER_SECOND) === 0))));
      const { body } = await connection.reply();
      if (!body.includes("TASK_STATE_SUBMITTED")) throw new Error(`a message was answered ${body.slice(0, 300)}`);
      times.push(performance.now() - at);
    }
    return times;
  }));
  return found.flat();
}

function gauge(name: string): number {
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(metrics)?.[1] ?? NaN);
}

async function look(messages: number): Promise<void> {
  memory.push({ messages, ...await memoryOf(target, isHeld!) });
}
