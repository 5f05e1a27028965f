import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { type Bed, forMode, type RunResult } from "../harness.ts";
import { childrenOf, environmentOf } from "../processes.ts";
import { DelegatingWorkspace } from "../process/delegating_workspace.ts";
import { assertNothingLeft, waitForNoProcess } from "../process/leftovers.ts";
import { seededRandom, stormSeed } from "./seeded_random.ts";
import { assertNothingAfterGc, assertWholeRecords, sessionsOf, wholeTrace } from "./whole_records.ts";

const KILLS = 100;
const TOP_KILLS = 12;
/** Homes that are stormed at the same time. */
const HOMES = 4;
/** How long after its start, at most, a process is killed, ms: about as long as it lives. */
const LATEST_MS = 120;

/** Every process of the chain but the first, by its depth. */
const TARGETS = ["cell 0", "session 1", "cell 1", "session 2", "cell 2"] as const;
type Target = typeof TARGETS[number];

/** A session of the chain as its records have it. */
interface Recorded {
  readonly id: string;
  readonly capsule: string;
  readonly end: Readonly<Record<string, unknown>>;
  readonly completion: Readonly<Record<string, unknown>> | undefined;
}

/** One home of the storm. */
class Victim {
  readonly #bed: Bed;
  readonly #space: DelegatingWorkspace;
  readonly #env: Record<string, string>;
  readonly home: string;

  constructor(bed: Bed, space: DelegatingWorkspace, name: string) {
    this.#bed = bed;
    this.#space = space;
    this.home = join(bed.root, name);
    this.#env = { BOLL_HOME: this.home };
  }

  start() {
    return this.#bed.start(["run", join(this.#space.root, "top"), "--accept"], { env: this.#env });
  }

  /** A run that nobody disturbs. */
  async run(): Promise<void> {
    const { code, stdout, stderr } = await this.start().result();
    assertEquals([code, stderr], [0, ""]);
    assertStringIncludes(stdout, "hello from wasm");
  }

  /** A run in which one process below the first is killed: it ends by itself, and says what it was told. */
  async kill(target: Target, delayMs: number): Promise<string> {
    const before = new Set(sessionsOf(this.home));
    const running = this.start();
    const ended = running.result();
    const isKilled = await killAt({ top: running.child.pid, moment: target, delayMs, ended }, (pid) => pid);
    const result = await ended;
    const sessions = this.#recorded(before);
    const words = `${target} after ${delayMs} ms: ${JSON.stringify({ ...result, stdoutBytes: 0 })}`;
    try {
      assertTrueWord(result, sessions, isKilled && target === "cell 0");
      assertAgree(sessions);
    } catch (error) {
      throw new Error(`${words}\n${JSON.stringify(sessions, null, 1)}`, { cause: error });
    }
    return isKilled ? `${target}: ${result.code}` : "too late";
  }

  /** A run that is killed itself: who reads its records next says that all of it crashed. */
  async killTop(moment: Target, delayMs: number): Promise<string> {
    const before = new Set(sessionsOf(this.home));
    const running = this.start();
    const ended = running.result();
    await killAt({ top: running.child.pid, moment, delayMs, ended }, () => running.child.pid);
    await ended;
    const { stdout } = await this.#bed.run(["sessions", "--json"], { env: this.#env });
    const listed = stdout.trimEnd().split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
    const own = listed.filter(({ session_id }) => !before.has(session_id));
    assertEquals(new Set(own.map(({ session_id }) => session_id)), new Set(this.#ids(before)));
    assertWholeRecords(this.home);
    for (const { capsule, status } of own) {
      // A session that hears that its supervisor is gone may have said so before it was gone itself.
      const known = capsule === "top" ? ["crashed", "completed"] : ["crashed", "completed", "cancelled"];
      assert(known.includes(status), `${capsule} ${status}`);
    }
    return `top: ${own.length} sessions, ${own.map(({ status }) => status).join(" ")}`;
  }

  #ids(before: ReadonlySet<string>): string[] {
    return sessionsOf(this.home).filter((id) => !before.has(id));
  }

  /** Every record of the newest run, whole and read before any verb could have mended it. */
  #recorded(before: ReadonlySet<string>): Recorded[] {
    assertWholeRecords(this.home);
    return this.#ids(before).map((id) => {
      const records = join(this.home, "sessions", id, "records");
      const events = wholeTrace(join(this.home, "sessions", id));
      const [end, ...more] = events.filter(({ event }) => event === "session_end");
      assert(end !== undefined && more.length === 0, `${more.length + 1} endings of ${id}`);
      const summary = JSON.parse(Deno.readTextFileSync(join(records, "summary.json")));
      assertEquals([summary.session_id, summary.status], [id, end["status"]]);
      const plan = JSON.parse(Deno.readTextFileSync(join(records, "plan.json")));
      assertEquals(plan.session_id, id);
      const completion = readJson(join(records, "completion.json"));
      assertEquals(completion === undefined, plan.capsule.name === "top");
      if (completion !== undefined) {
        assertEquals([completion["session_id"], completion["capsule_name"]], [id, plan.capsule.name]);
      }
      return { id, capsule: plan.capsule.name, end, completion };
    });
  }
}

/** When a process of a run is killed. */
interface Moment {
  readonly top: number;
  /** So long after this one has come to be. */
  readonly moment: Target;
  readonly delayMs: number;
  /** The run is over. */
  readonly ended: Promise<unknown>;
}

/** Kills a process of a run at a moment, of whose process it is told; false when the run ended before. */
async function killAt({ top, moment, delayMs, ended }: Moment, choose: (pid: number) => number): Promise<boolean> {
  let isOver = false;
  ended.then(() => isOver = true, () => isOver = true);
  let pid = find(top, moment);
  for (; pid === undefined && !isOver; pid = find(top, moment)) await pause(2);
  await pause(delayMs);
  return !isOver && pid !== undefined && killNow(choose(pid));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A process of the chain: sessions are the top's children, as is its own cell, and each has one cell. */
function find(top: number, target: Target): number | undefined {
  const [kind, depth] = target.split(" ");
  const below = children(top);
  const sessions = below.map(({ pid, spawner }) => ({ pid, spawner: spawner?.session_id }))
    .filter(({ spawner }) => spawner !== undefined);
  // The first was started by the run, the other by it: ids of sessions are as old as their sessions.
  sessions.sort((one, other) => one.spawner! < other.spawner! ? -1 : 1);
  if (depth === "0") return below.find(({ spawner }) => spawner === undefined)?.pid;
  const session = sessions[Number(depth) - 1];
  return kind === "session" || session === undefined ? session?.pid : children(session.pid)[0]?.pid;
}

function children(pid: number) {
  try {
    return childrenOf(pid).flatMap((child) => {
      const { BOLL_CHILD, BOLL_SPAWNER } = environmentOf(child);
      // Between fork and exec it is still a copy of its parent.
      if (BOLL_CHILD === undefined) return [];
      return [{ pid: child, spawner: BOLL_SPAWNER === undefined ? undefined : JSON.parse(BOLL_SPAWNER) }];
    });
  } catch {
    return []; // it has ended
  }
}

/** The run ended by itself, with the code that says what its guest was told, or lost that guest. */
function assertTrueWord(result: RunResult, sessions: readonly Recorded[], isCellKilled: boolean): void {
  const { code, signal, stdout, stderr, lastLine } = result;
  const top = sessions.find(({ capsule }) => capsule === "top");
  assertEquals([signal, top?.end["exit_code"]], [null, code]);
  if (isCellKilled && code === 1) {
    assertMatch(lastLine, /^boll: .*SIGKILL/);
    assertEquals(top?.end["status"], "crashed");
    return;
  }
  assertEquals(stderr.split("\n").filter((line) => !line.startsWith("boll: warning: ")).join(""), "");
  const middle = sessions.find(({ capsule }) => capsule === "middle")?.completion;
  const told = /^\[delegate-task\] delegation (dlg_\w+) to middle@0\.1\.0 ended (\w+):/.exec(stdout);
  assertEquals(told?.slice(1), [middle?.["delegation_id"], middle?.["status"]]);
  assertEquals([code, top?.end["status"]], middle?.["status"] === "ok" ? [0, "completed"] : [3, "failed"]);
  if (code === 0) assertStringIncludes(stdout, "hello from wasm");
}

/** A session's own record and its launcher's do not contradict each other. */
function assertAgree(sessions: readonly Recorded[]): void {
  for (const { capsule, end, completion } of sessions) {
    if (completion === undefined) continue;
    const known: Record<string, readonly unknown[]> = {
      ok: ["completed"],
      error: ["failed", "crashed"],
      crashed: ["crashed", "completed", "failed"],
      terminated: ["cancelled", "completed", "failed", "crashed"],
    };
    const { status, detail } = completion;
    assert(known[String(status)]!.includes(end["status"]), `${capsule} ${status}: ${end["status"]}`);
    assertEquals(detail !== undefined, status === "crashed" || status === "terminated");
    if (status === "crashed") assertMatch(String(detail), /SIGKILL/);
  }
}

forMode(
  "binary",
  `kill: each process of a chain of delegations at ${KILLS} moments: the run ends by itself, truly, and so do its records`,
  async (bed) => {
    await storm(bed, KILLS, async (victim, random) => {
      const target = TARGETS[Math.floor(random() * TARGETS.length)]!;
      return await victim.kill(target, random() * LATEST_MS);
    }, (seen) => {
      // A killed session or cell is told to whoever waits for it; a killed cell of the first one ends the run.
      for (const wanted of ["cell 0: 1", "session 1: 3", "cell 1: 3", "session 2: 3", "cell 2: 3"]) {
        assert(seen.has(wanted), `saw only ${[...seen].join(", ")}`);
      }
    });
  },
);

forMode(
  "binary",
  `kill: the first process of a chain of delegations, ${TOP_KILLS} times: nobody is left, and all of it is marked`,
  async (bed) => {
    await storm(bed, TOP_KILLS, async (victim, random) => {
      const moment = TARGETS[Math.floor(random() * TARGETS.length)]!;
      return await victim.killTop(moment, random() * LATEST_MS);
    }, (seen) => {
      assert([...seen].some((ending) => ending.includes("crashed crashed")), [...seen].join(", "));
    });
  },
);

/** So many kills, in several homes at once; each leaves no process, and none of them anything that `gc` does not take. */
async function storm(
  bed: Bed,
  kills: number,
  kill: (victim: Victim, random: () => number) => Promise<string>,
  judge: (seen: ReadonlySet<string>) => void,
): Promise<void> {
  const seed = stormSeed();
  const random = seededRandom(seed);
  const space = await chain(bed);
  const victims = Array.from({ length: HOMES }, (_, index) => new Victim(bed, space, `home-${index}`));
  await Promise.all(victims.map((victim) => victim.run()));
  const seen = new Set<string>();
  try {
    for (let done = 0; done < kills; done += HOMES) {
      const endings = victims.map((victim) => kill(victim, random));
      for (const ending of await Promise.all(endings)) seen.add(ending);
      if ([...seen].some((ending) => ending.startsWith("top"))) await waitForNoProcess(bed);
      else assertNothingLeft(bed);
    }
    judge(seen);
    for (const victim of victims) await victim.run();
  } catch (error) {
    throw new Error(`with BOLL_STORM_SEED=${seed}`, { cause: error });
  }
  await assertNothingAfterGc(bed);
}

/** `top` delegates to `middle`, which delegates to `worker`. */
async function chain(bed: Bed): Promise<DelegatingWorkspace> {
  const space = new DelegatingWorkspace(bed);
  await space.capsule("top", { guest: "pass_on", source: "middle", grants: { spawn: ["middle", "worker"] } });
  await space.capsule("middle", { guest: "pass_on", source: "worker", grants: { spawn: ["worker"] } });
  await space.capsule("worker", { guest: "hello_stdio" });
  await space.lock();
  return space;
}

function readJson(path: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(Deno.readTextFileSync(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Whether it was there to be killed. */
function killNow(pid: number): boolean {
  try {
    Deno.kill(pid, "SIGKILL");
    return true;
  } catch {
    return false; // it has ended
  }
}
