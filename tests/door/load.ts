/**
 * Loads a door: 200 readers of one task and one that takes nothing, 50 messages a second, for so many seconds; then says how
 * long accepting took, what the readers missed, and how much memory the door had.
 *
 * ```sh
 * deno run -A tests/door/load.ts 120
 * ```
 *
 * @module
 */
import { ask, message, request, WireConnection } from "./wire_client.ts";

const READERS = 200;
const PER_SECOND = 50;
const HEADERS = { "a2a-version": "1.0" };
const seconds = Number(Deno.args[0] ?? 120);

const child = new Deno.Command(Deno.execPath(), {
  args: ["run", "--quiet", "--allow-all", "--no-check", new URL("./load_doors.ts", import.meta.url).pathname],
  stdin: "null",
  stdout: "piped",
}).spawn();
let said = "";
for await (const text of child.stdout.pipeThrough(new TextDecoderStream()).values({ preventCancel: true })) {
  said += text;
  if (said.endsWith("\n")) break;
}
const [talking, answering] = said.trim().split(" ").map(Number) as [number, number];

function sending(port: number, text: string): string {
  const params = { ...message(text), configuration: { returnImmediately: true } };
  return request(port, {
    headers: HEADERS,
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params }),
  });
}

async function subscribe(id: string): Promise<WireConnection> {
  const connection = await WireConnection.open(talking);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SubscribeToTask", params: { id } });
  await connection.send(request(talking, { headers: HEADERS, body }));
  return connection;
}

/** Every event has the number after the one before it; the last one is the task's end. */
async function readAll(connection: WireConnection): Promise<number> {
  const { status } = await connection.head();
  if (status !== 200) throw new Error(`a reader was answered ${status}`);
  let [count, last] = [0, 0];
  for await (const { id, type } of connection.events()) {
    if (type === "comment") continue;
    const number = Number(id!.split("-")[1]);
    if (last > 0 && number !== last + 1) throw new Error(`a reader heard ${number} after ${last}`);
    [count, last] = [count + 1, number];
  }
  connection[Symbol.dispose]();
  return count;
}

function residentMiB(): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(Deno.readTextFileSync(`/proc/${child.pid}/status`))!;
  return Math.round(Number(kib) / 1024);
}

const started = JSON.parse(
  (await ask(talking, {
    headers: HEADERS,
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "SendMessage",
      params: { ...message("go"), configuration: { returnImmediately: true } },
    }),
  })).body,
).result.task.id;
const readers = await Promise.all(Array.from({ length: READERS }, () => subscribe(started)));
const reading = readers.map(readAll);
const silent = await subscribe(started);
const sender = await WireConnection.open(answering);
const accepted: number[] = [];
const memory: number[] = [];
const filler = "x".repeat(500);
const startedAt = performance.now();
for (let count = 0; performance.now() - startedAt < seconds * 1_000; count++) {
  const wait = startedAt + count * 1_000 / PER_SECOND - performance.now();
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
  const sentAt = performance.now();
  await sender.send(sending(answering, `${count} ${filler}`));
  const { body } = await sender.reply();
  if (!body.includes("TASK_STATE_SUBMITTED")) throw new Error(`a message was answered ${body.slice(0, 300)}`);
  accepted.push(performance.now() - sentAt);
  if (count % (5 * PER_SECOND) === 0) memory.push(residentMiB());
}
const { body: metrics } = await ask(talking, { method: "GET", path: "/metrics" });
await ask(talking, { method: "POST", path: `/v1/tasks/${started}:cancel`, headers: HEADERS });
const heard = await Promise.all(reading);
accepted.sort((a, b) => a - b);
console.log(JSON.stringify(
  {
    messages: accepted.length,
    perSecond: Math.round(accepted.length / (performance.now() - startedAt) * 1_000),
    acceptMs: {
      p50: accepted[accepted.length >> 1],
      p99: accepted[Math.floor(accepted.length * 0.99)],
      max: accepted.at(-1),
    },
    heardByEach: [Math.min(...heard), Math.max(...heard)],
    dropped: Number(/^boll_load_dropped (\d+)$/m.exec(metrics)![1]),
    memoryMiB: memory,
  },
  null,
  2,
));
silent[Symbol.dispose]();
sender[Symbol.dispose]();
child.kill("SIGKILL");
await child.stdout.cancel().catch(() => {});
await child.status;
