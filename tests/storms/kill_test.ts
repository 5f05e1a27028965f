import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path";
import { type Bed, forMode } from "../harness.ts";
import { childrenOf } from "../processes.ts";
import { waitForNoProcess } from "../process/leftovers.ts";
import { warmGuest } from "../warm_cache.ts";
import { seededRandom, stormSeed } from "./seeded_random.ts";
import { assertNothingAfterGc, assertWholeRecords, namesIn, sessionsOf } from "./whole_records.ts";

const KILLS = 48;
/** Homes that are stormed at the same time. */
const HOMES = 4;

type Target = "main" | "cell" | "both";

/** One home of the storm: what comes after a kill finds what the kill left. */
class Victim {
  readonly #bed: Bed;
  readonly #guest: string;
  readonly #env: Record<string, string>;
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

  /** A run in which `target` is killed after a while, and everything that must hold then. */
  async kill(target: Target, delayMs: number): Promise<string> {
    const before = new Set(sessionsOf(this.home));
    const running = this.#bed.start(["run", this.#guest], { env: this.#env });
    const main = running.child.pid;
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    const cells = target === "main" ? [] : children(main);
    if (target !== "cell") killNow(main);
    for (const cell of cells) killNow(cell);
    const result = await running.result();
    const [id, ...others] = sessionsOf(this.home).filter((name) => !before.has(name));
    assertEquals(others, []);
    const isKilled = result.signal === "SIGKILL";
    assertWholeRecords(this.home);
    const { stdout } = await this.#bed.run(["sessions", "--json", "--limit", "1"], { env: this.#env });
    if (id === undefined) {
      assert(isKilled, `no session, and nobody was killed: ${result.stderr}`);
      return "before its session";
    }
    const { session_id, status, exit_code } = JSON.parse(stdout);
    assertEquals(session_id, id);
    if (isKilled) {
      assert(["crashed", "completed"].includes(status), status);
      return `main: ${status}`;
    }
    assertEquals([result.code, status], exit_code === 0 ? [0, "completed"] : [1, "crashed"], result.stderr);
    if (result.code === 1) assertMatch(result.lastLine, /^boll: .*SIGKILL/);
    return `cell: ${status}`;
  }
}

forMode(
  "binary",
  `kill: boll, its cell, or both, at ${KILLS} moments of a run, leave nothing that hurts`,
  async (bed) => {
    const seed = stormSeed();
    const random = seededRandom(seed);
    const guest = await warmGuest(bed, "hello_stdio");
    const victims = Array.from({ length: HOMES }, (_, index) => new Victim(bed, guest, `home-${index}`));
    const coldMs = Math.max(...await Promise.all(victims.map((victim) => victim.run())));
    const warmMs = Math.max(...await Promise.all(victims.map((victim) => victim.run())));
    const seen = new Set<string>();
    try {
      for (let kills = 0; kills < KILLS; kills += HOMES) {
        const endings = victims.map((victim) => {
          const isCold = random() < 0.25;
          if (isCold) victim.chill();
          const target = (["main", "cell", "both"] as const)[Math.floor(random() * 3)]!;
          return victim.kill(target, random() * (isCold ? coldMs : warmMs));
        });
        for (const ending of await Promise.all(endings)) seen.add(ending);
        await waitForNoProcess(bed);
      }
      for (const victim of victims) await victim.run();
    } catch (error) {
      throw new Error(`with BOLL_STORM_SEED=${seed}`, { cause: error });
    }
    for (const ending of ["main: crashed", "cell: crashed"]) {
      assert(
        seen.has(ending),
        `saw only ${[...seen].join(", ")}`,
      );
    }
    await assertNothingAfterGc(bed);
  },
);

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
