import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path";
import { type Bed, forMode } from "../harness.ts";
import { childrenOf, waitForEnd } from "../processes.ts";
import { cellsOf } from "../process/leftovers.ts";
import { warmGuest } from "../warm_cache.ts";
import { seededRandom, stormSeed } from "./seeded_random.ts";
import { assertNothingAfterGc, assertWholeRecords, namesIn, sessionsOf } from "./whole_records.ts";

const KILLS = 100;
/** Homes that are stormed at the same time. */
const HOMES = 2;
/** Kills in one home before anybody asks what became of them: a run never does. */
const KILLS_UNASKED = 13;
/** A build takes as long as ten runs, and what it is killed in is built by the next. */
const COLD_SHARE = 0.05;

type Target = "main" | "cell" | "both";

/** A run that was killed, as who started it saw it. */
interface Killed {
  readonly id: string;
  /** Undefined when boll itself was killed. */
  readonly code: number | undefined;
  readonly lastLine: string;
}

/** One home of the storm: what comes after a kill finds what the kill left. */
class Victim {
  readonly #bed: Bed;
  readonly #guest: string;
  readonly #env: Record<string, string>;
  readonly #unasked: Killed[] = [];
  readonly home: string;

  constructor(bed: Bed, guest: string, name: string) {
    this.#bed = bed;
    this.#guest = guest;
    this.home = join(bed.root, name);
    this.#env = { BOLL_HOME: this.home };
  }

  /** Forgets what was built, so that the next run builds. */
  chill(): void {
    for (const name of namesIn(join(this.home, "cache"))) {
      Deno.removeSync(join(this.home, "cache", name), { recursive: true });
    }
  }

  /** A run that nobody disturbs; gives how long it took, ms. */
  async run(): Promise<number> {
    const start = performance.now();
    const { code, stdout, stderr } = await this.#bed.run(["run", this.#guest], { env: this.#env });
    assertEquals([code, stdout, stderr], [0, "hello from wasm\n", ""]);
    return performance.now() - start;
  }

  /** A run in which `target` is killed after a while. */
  async kill(target: Target, delayMs: number): Promise<void> {
    const before = new Set(sessionsOf(this.home));
    const running = this.#bed.start(["run", this.#guest], { env: this.#env });
    const main = running.child.pid;
    await passOrEnd(delayMs, running.child.status);
    const cells = target === "main" ? [] : children(main);
    if (target !== "cell") killNow(main);
    for (const cell of cells) killNow(cell);
    const { code, signal, stderr, lastLine } = await running.result();
    const isKilled = signal === "SIGKILL";
    if (isKilled) { for (const cell of cellsOf(this.#bed, main)) await waitForEnd(cell); }
    const [id, ...others] = sessionsOf(this.home).filter((name) => !before.has(name));
    assertEquals(others, []);
    if (id === undefined) return assert(isKilled, `no session, and nobody was killed: ${stderr}`);
    this.#unasked.push({ id, code: isKilled ? undefined : code, lastLine });
  }

  /** Asks boll what became of the runs that were killed, and gives that. */
  async ask(): Promise<string[]> {
    assertWholeRecords(this.home);
    const killed = this.#unasked.splice(0);
    if (killed.length === 0) return [];
    const limit = String(killed.length);
    const { stdout } = await this.#bed.run(["sessions", "--json", "--limit", limit], { env: this.#env });
    const told = new Map(
      stdout.trimEnd().split("\n").map((line) => JSON.parse(line)).map((row) => [row.session_id, row]),
    );
    return killed.map((one) => endingOf(one, told.get(one.id)));
  }
}

function endingOf({ id, code, lastLine }: Killed, told?: { status: string; exit_code: number }): string {
  assert(told !== undefined, `nobody knows of ${id}`);
  const { status, exit_code } = told;
  if (code === undefined) {
    assert(["crashed", "completed"].includes(status), status);
    return `main: ${status}`;
  }
  assertEquals([code, status], exit_code === 0 ? [0, "completed"] : [1, "crashed"], lastLine);
  if (code === 1) assertMatch(lastLine, /^boll: .*SIGKILL/);
  return `cell: ${status}`;
}

forMode(
  "binary",
  `kill: boll, its cell, or both, at ${KILLS} moments of a run, leave nothing that hurts`,
  async (bed) => {
    const seed = stormSeed();
    const guest = await warmGuest(bed, "hello_stdio");
    const victims = Array.from({ length: HOMES }, (_, index) => new Victim(bed, guest, `home-${index}`));
    const all = async <T>(act: (victim: Victim) => Promise<T>) => await Promise.all(victims.map(act));
    const coldMs = Math.max(...await all((victim) => victim.run()));
    const warmMs = Math.max(...await all((victim) => victim.run()));
    const seen = new Set<string>();
    try {
      await Promise.all(victims.map(async (victim, index) => {
        const random = seededRandom(seed + index);
        for (let kills = 1; kills <= KILLS / HOMES; kills++) {
          const isCold = random() < COLD_SHARE;
          if (isCold) victim.chill();
          const target = (["main", "cell", "both"] as const)[Math.floor(random() * 3)]!;
          await victim.kill(target, random() * (isCold ? coldMs : warmMs));
          if (kills % KILLS_UNASKED > 0 && kills < KILLS / HOMES) continue;
          for (const ending of await victim.ask()) seen.add(ending);
        }
      }));
      await all((victim) => victim.run());
    } catch (error) {
      throw new Error(`with BOLL_STORM_SEED=${seed}`, { cause: error });
    }
    for (const ending of ["main: crashed", "cell: crashed"]) {
      assert(seen.has(ending), `saw only ${[...seen].join(", ")}`);
    }
    await assertNothingAfterGc(bed);
  },
);

/** Waits for a moment of a run, or for its end if that comes first. */
async function passOrEnd(delayMs: number, end: Promise<unknown>): Promise<void> {
  let timer = 0;
  const moment = new Promise((resolve) => timer = setTimeout(resolve, delayMs));
  await Promise.race([moment, end]);
  clearTimeout(timer);
}

function children(pid: number): number[] {
  try {
    return childrenOf(pid);
  } catch {
    return []; // it has ended
  }
}

function killNow(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}
