/**
 * What strangers cost `dist/boll serve`: clients that send a head a byte at a time and never end it, and 100 000 questions for
 * tasks that are not there. Prints what was found, and exits with 1 when a bound does not hold.
 *
 * ```sh
 * deno run -A tests/door/strangers.ts 100000 20000   # ids, and ms of a crowd
 * ```
 *
 * @module
 */
import { DEFAULT_LIMITS } from "../../src/door/limits.ts";
import { openExecutable } from "./load_target.ts";
import { ask, request, WireConnection } from "./wire_client.ts";

const CROWD = 200;
const CROWD_MS = Number(Deno.args[1] ?? 20_000);
const ASK_EVERY_MS = 50;
const UNKNOWN_IDS = Number(Deno.args[0] ?? 100_000);
const ASKERS = 8;
/** So much later than its time a connection may be seen to close, ms. */
const LATE_MS = 2_000;
const { requestMs, unknownConnections } = DEFAULT_LIMITS;

await using target = await openExecutable();
const { talking: port, headers } = target;
const wrong: string[] = [];
const few = await slowFew();
const crowd = await slowCrowd();
const unknown = await unknownTasks();
console.log(JSON.stringify({ few, crowd, unknown, wrong }, null, 2));
if (wrong.length > 0) Deno.exitCode = 1;

/** As many as may wait, and one who is known: none of them is pushed out, each has its time. */
async function slowFew() {
  using known = await WireConnection.open(port);
  await answer(known);
  const over = new AbortController();
  const closing = Promise.all(Array.from({ length: unknownConnections }, () => dribble()))
    .finally(() => over.abort());
  const { held, answers } = await askMeanwhile(over.signal, known, () => answer(known));
  const closed = (await closing).toSorted((a, b) => a - b);
  if (closed[0]! < requestMs - LATE_MS || closed.at(-1)! > requestMs + LATE_MS) {
    wrong.push(`slow clients were closed after ${closed[0]} to ${closed.at(-1)} ms`);
  }
  return { connections: unknownConnections, closedAfterMs: [closed[0], closed.at(-1)], held, answers };
}

/** Many more, each of which comes back at once, and those who are known come with a new connection each time. */
async function slowCrowd() {
  using known = await WireConnection.open(port);
  await answer(known);
  const over = new AbortController();
  let closed = 0;
  const dribbling = Array.from({ length: CROWD }, async () => {
    while (!over.signal.aborted) {
      await dribble(over.signal).catch(() => {});
      if (!over.signal.aborted) closed++;
    }
  });
  setTimeout(() => over.abort(), CROWD_MS);
  const { held, answers } = await askMeanwhile(over.signal, known, async () => {
    const startedAt = performance.now();
    const { status } = await ask(port, getTask(newTaskId()));
    if (status !== 200) wrong.push(`one who is known was answered ${status}`);
    return performance.now() - startedAt;
  });
  await Promise.all(dribbling);
  return { connections: CROWD, pushedOutPerSecond: Math.round(closed / CROWD_MS * 1_000), held, answers };
}

/** GetTask of ids that nobody gave. */
async function unknownTasks() {
  const memoryMiB = [residentMiB()];
  const startedAt = performance.now();
  let [next, others] = [0, 0];
  await Promise.all(Array.from({ length: ASKERS }, async () => {
    using connection = await WireConnection.open(port);
    for (let count = next++; count < UNKNOWN_IDS; count = next++) {
      if (count === UNKNOWN_IDS / 10) memoryMiB.push(residentMiB());
      await connection.send(request(port, getTask(newTaskId())));
      const { status, body } = await connection.reply();
      if (status !== 200 || JSON.parse(body).error?.code !== -32001) others++;
    }
  }));
  const perSecond = Math.round(UNKNOWN_IDS / (performance.now() - startedAt) * 1_000);
  memoryMiB.push(residentMiB());
  if (others > 0) wrong.push(`${others} unknown tasks were answered otherwise than -32001`);
  return { asked: UNKNOWN_IDS, others, perSecond, memoryMiB };
}

/** Half a head, a byte each second, until the door has enough; gives how long that took, ms. */
async function dribble(signal?: AbortSignal): Promise<number> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const bytes = new TextEncoder().encode(`POST / HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nx-slow: ${"a".repeat(1_000)}`);
  const startedAt = performance.now();
  let at = 0;
  const writing = setInterval(() => connection.write(bytes.subarray(at, ++at)).catch(() => {}), 1_000);
  const leave = () => connection.closeWrite().catch(() => {});
  signal?.addEventListener("abort", leave);
  try {
    while (await connection.read(new Uint8Array(1_024)) !== null);
  } catch {
    /* it was reset */
  } finally {
    clearInterval(writing);
    signal?.removeEventListener("abort", leave);
  }
  return Math.round(performance.now() - startedAt);
}

/** Asks again and again until that is over; gives how long answers took, and the most strangers that were held. */
async function askMeanwhile(signal: AbortSignal, known: WireConnection, once: () => Promise<number>) {
  const found: number[] = [];
  let held = 0;
  while (!signal.aborted) {
    found.push(await once());
    await known.send(request(port, { method: "GET", path: "/metrics", headers }));
    const { body } = await known.reply();
    held = Math.max(held, Number(/^boll_door_connections_unknown (\d+)$/m.exec(body)?.[1] ?? Infinity));
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
  if (held > unknownConnections) wrong.push(`${held} connections without a token were held`);
  found.sort((a, b) => a - b);
  const at = (part: number) => Math.round(found[Math.floor((found.length - 1) * part)]! * 10) / 10;
  return { held, answers: { count: found.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) } };
}

/** One answer over a connection that stays, ms. */
async function answer(connection: WireConnection): Promise<number> {
  const startedAt = performance.now();
  await connection.send(request(port, getTask(newTaskId())));
  await connection.reply();
  return performance.now() - startedAt;
}

function getTask(id: string) {
  return { headers, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id } }) };
}

function newTaskId(): string {
  return `tsk_${crypto.randomUUID().replaceAll("-", "")}`;
}

function residentMiB(): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(Deno.readTextFileSync(`/proc/${target.pid}/status`))!;
  return Math.round(Number(kib) / 1024);
}
