/**
 * Kills `dist/boll serve --name` under the load of `load.ts`: in each round 200 readers follow two tasks that talk, fifty
 * messages a second come in, and at a moment that chance chooses the supervisor, or its session alone, is killed with
 * SIGKILL; the supervisor is started again at once. Each message notes in a folder that it was run. What still waits some
 * time after the load is cancelled: each message takes a cell of its own, and more come than can be done. At the end every
 * task that was accepted must be there once and have ended, none may have run twice, and every reader must know how its task
 * ended and have been told when it missed something. Prints what was found, and exits with 1 when something is wrong.
 *
 * ```sh
 * deno run -A tests/door/load_kill.ts 15 20   # seconds of load in each round, and for what waits then
 * ```
 *
 * @module
 */
import { join } from "@std/path";
import { Bed } from "../harness.ts";
import { serve, type Served, servedProbe } from "../process/served.ts";
import { judgeKilled, type KilledTask } from "./judge_killed.ts";
import type { Heard } from "./load_readers.ts";
import { startReaders } from "./start_readers.ts";
import { message, request, WireConnection } from "./wire_client.ts";

type Victim = "supervisor" | "session";

/** A message whose answer arrived. */
interface Accepted {
  readonly name: string;
  readonly id: string;
  /** From the time at which it was due to the answer, ms; and that time. */
  readonly ms: number;
  readonly dueMs: number;
}

const VICTIMS: readonly Victim[] = ["supervisor", "session", "supervisor"];
const READERS = 200;
const PER_SECOND = 50;
const SENDERS = 8;
const FILLER = "x".repeat(500);
const LONG_FILLER = "x".repeat(2_000);
/** What fell due while nobody was there has gone by then, ms. */
const BACKLOG_MS = 1_000;
const [seconds = 15, secondsAfter = 20] = Deno.args.map(Number);

await using bed = new Bed("binary");
const work = bed.folder("ran");
const capsule = await servedProbe(bed, { limits: { output_bytes: 1_000_000_000 } });
const accepted: Accepted[] = [];
const talking: Pick<Accepted, "name" | "id">[] = [];
/** Sent, and no answer came. */
const unanswered: string[] = [];
const refused: string[] = [];
const cancelled = new Set<string>();
let starts = 0;
let served = await start();
const port = Number(new URL(served.url).port);
const headers = { "a2a-version": "1.0", authorization: `Bearer ${served.token}` };

const rounds = [];
const ends = new Map<string, readonly string[]>();
for (const [at, victim] of VICTIMS.entries()) rounds.push(await round(at, victim));
const faults = judgeKilled({
  tasks: await allTasks(),
  accepted: [...accepted, ...talking],
  unanswered,
  kills: VICTIMS.length,
  cancelled,
  runsOf: (name) => sizeOf(join(work, name)),
  ends,
});
const status = await served.stop();
if (status !== 0) faults.wrong.push(`it ended with ${status}`);
faults.wrong.push(...refused.map((text) => `refused: ${text}`), ...rounds.flatMap(({ wrong }) => wrong));
console.log(JSON.stringify(
  {
    secondsOfLoad: seconds,
    accepted: accepted.length,
    unanswered: unanswered.length,
    starts,
    ...faults,
    acceptMs: times(rounds.flatMap(({ calm }) => calm)),
    rounds: rounds.map(({ calm: _calm, wrong: _wrong, ...told }) => told),
  },
  null,
  2,
));
if (faults.wrong.length > 0) Deno.exitCode = 1;

async function start(): Promise<Served> {
  for (;;) {
    starts++;
    const flags = ["--queue", "9999", "--task-timeout", "1h", "--name", "doomed", "--work", work];
    try {
      return await serve(bed, { capsule, flags, safetyNetMs: 3_600_000 });
    } catch (error) {
      console.error(String(error));
      if (starts > 20) throw error;
    }
  }
}

/** Two tasks that talk, a third of the time each; readers, load and a kill; then everything that was accepted is done. */
async function round(at: number, victim: Victim) {
  const ticks = Math.round(seconds / 3 * PER_SECOND);
  const talks: Pick<Accepted, "name" | "id">[] = [];
  using first = await WireConnection.open(port);
  for (const name of [`${at}-talk`, `${at}-talk-too`]) {
    const print = `for (let n = 0; n < ${ticks}; n++) { print("${LONG_FILLER}"); `;
    const id = await submit(first, name, `${print}monotonicClock.subscribeDuration(20_000_000).block(); }`);
    talks.push({ name, id });
  }
  const readers = await Promise.all(talks.map(({ id }) => {
    return startReaders({ port, headers, task: id, readers: READERS / talks.length, comesBack: true });
  }));
  const from = performance.now();
  const before = accepted.length;
  const [outage] = await Promise.all([kill(victim, (0.15 + 0.7 * Math.random()) * seconds * 1_000), load(at, from)]);
  const sent = performance.now();
  const heard = await Promise.all(readers.map(({ heard }) => heard));
  talks.forEach(({ id }, which) => ends.set(id, heard[which]!.ends));
  talking.push(...talks);
  while (await waiting() > 0 && performance.now() - sent < secondsAfter * 1_000) await pause(500);
  await cancelWaiting();
  while (await waiting() > 0) await pause(100);
  const calm = accepted.slice(before).filter(({ dueMs, ms }) => {
    return dueMs + ms < outage.killed || dueMs > outage.back + BACKLOG_MS;
  }).map(({ ms }) => ms);
  return {
    killed: victim,
    afterSeconds: Math.round((outage.killed - from) / 100) / 10,
    awayMs: Math.round(outage.back - outage.killed),
    drainedSeconds: Math.round((performance.now() - sent) / 1_000),
    acceptMs: times(calm),
    readers: sumOf(heard),
    wrong: heard.flatMap(wrongWith),
    calm,
  };
}

/** Sends what falls due until the time is over, whether the door is there or not. */
async function load(at: number, from: number): Promise<void> {
  const total = seconds * PER_SECOND;
  let next = 0;
  await Promise.all(Array.from({ length: SENDERS }, async () => {
    let connection = await connect();
    for (let count = next++; count < total; count = next++) {
      const dueMs = from + count * 1_000 / PER_SECOND;
      await pause(dueMs - performance.now());
      const name = `${at}-${count}`;
      try {
        const id = await submit(connection, name, `"${FILLER}"`);
        accepted.push({ name, id, dueMs, ms: performance.now() - dueMs });
      } catch {
        unanswered.push(name);
        connection[Symbol.dispose]();
        connection = await connect();
      }
    }
    connection[Symbol.dispose]();
  }));
}

async function submit(connection: WireConnection, name: string, script: string): Promise<string> {
  const params = {
    ...message(`appendFile("/workdir/${name}", "x"); ${script}`),
    configuration: { returnImmediately: true },
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params });
  await connection.send(request(port, { headers, body }));
  const reply = await connection.reply();
  const task = JSON.parse(reply.body).result?.task;
  if (task === undefined || !/SUBMITTED|WORKING/.test(task.status.state)) refused.push(reply.body.slice(0, 300));
  return task?.id;
}

async function connect(): Promise<WireConnection> {
  for (;;) {
    try {
      return await WireConnection.open(port);
    } catch {
      await pause(20);
    }
  }
}

/** From the kill to the first answer after it. */
async function kill(victim: Victim, afterMs: number): Promise<{ readonly killed: number; readonly back: number }> {
  await pause(afterMs);
  const killed = performance.now();
  if (victim === "session") Deno.kill(served.sessionPid, "SIGKILL");
  else {
    const { running } = served;
    running.child.kill("SIGKILL");
    await running.child.status;
    served.close();
    served = await start();
    await running.result();
  }
  while (await waiting().catch(() => undefined) === undefined) await pause(20);
  return { killed, back: performance.now() };
}

/** Tasks that have not ended. */
async function waiting(): Promise<number> {
  let count = 0;
  for (const status of ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"]) {
    const { result } = await served.call("ListTasks", { status, pageSize: 1 }) as { result: { totalSize: number } };
    count += result.totalSize;
  }
  return count;
}

/** The last one that came first: the one that is about to begin comes last. */
async function cancelWaiting(): Promise<void> {
  for (const { id } of await allTasks({ status: "TASK_STATE_SUBMITTED" })) {
    cancelled.add(id);
    await served.call("CancelTask", { id });
  }
}

async function allTasks(filter = {}): Promise<KilledTask[]> {
  const tasks: KilledTask[] = [];
  let pageToken: string | undefined;
  do {
    const page = { ...filter, pageSize: 100, ...(pageToken !== undefined && { pageToken }) };
    const { result } = await served.call("ListTasks", page) as {
      result: { tasks: KilledTask[]; nextPageToken?: string };
    };
    tasks.push(...result.tasks);
    pageToken = result.nextPageToken || undefined;
  } while (pageToken !== undefined);
  return tasks;
}

function sumOf(heard: readonly Heard[]) {
  const sum = (name: "broken" | "resumed" | "gaps" | "lost") => heard.reduce((all, one) => all + one[name], 0);
  const counts = heard.flatMap((one) => one.heard);
  return {
    heardByEach: [Math.min(...counts), Math.max(...counts)],
    broken: sum("broken"),
    resumed: sum("resumed"),
    gaps: sum("gaps"),
    lost: sum("lost"),
  };
}

function wrongWith({ lost, broken, resumed, gaps, refused }: Heard): string[] {
  return [
    ...(lost === 0 ? [] : [`${lost} events were lost to readers`]),
    ...(broken === resumed + gaps ? [] : [`${broken} streams broke, ${resumed} went on, ${gaps} told of a gap`]),
    ...new Set(refused),
  ];
}

function times(found: readonly number[]) {
  const sorted = found.toSorted((a, b) => a - b);
  const at = (part: number) => Math.round(sorted[Math.floor((sorted.length - 1) * part)]! * 10) / 10;
  return { messages: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

function sizeOf(path: string): number {
  try {
    return Deno.statSync(path).size;
  } catch {
    return 0;
  }
}

function pause(ms: number): Promise<void> {
  return ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : Promise.resolve();
}
