import { assertEquals } from "@std/assert";
import { type Bed, fixture, forMode, type RunningBoll, type RunResult } from "../harness.ts";
import { cellsOf, processesOf, waitForNoProcess } from "../process/leftovers.ts";
import { assertNothingAfterGc, assertWholeRecords, halfMade, namesIn, sessionsOf } from "./whole_records.ts";

const RUNS = { cold: 50, warm: 20 } as const;
const TURN = /^\.build-[0-9a-f]{64}$/;

forMode(
  "binary",
  `herd: ${RUNS.cold} runs at once over a cold cache, and ${RUNS.warm} over a warm one, all end well with one build`,
  async (bed) => {
    const hello = await fixture("hello_stdio");
    const inodes = new Set<number | null>();
    for (const [state, count] of Object.entries(RUNS)) {
      const results = await Promise.all(
        Array.from({ length: count }, () => bed.run(["run", hello], { safetyNetMs: 300_000 })),
      );
      for (const result of results) assertEquals(endOf(result), [0, "hello from wasm\n", ""], state);
      const [key, ...others] = namesIn(`${bed.home}/cache`);
      assertEquals(others, []);
      inodes.add(Deno.statSync(`${bed.home}/cache/${key}`).ino);
    }
    assertEquals(inodes.size, 1);
    assertEquals(sessionsOf(bed.home).length, RUNS.cold + RUNS.warm);
    assertWholeRecords(bed.home);
    assertEquals(halfMade(bed.home), []);
    await assertNothingAfterGc(bed);
  },
);

forMode(
  "binary",
  "herd: when the one that builds is killed another builds, and nothing of the dead one is used",
  async (bed) => {
    const hello = await fixture("hello_stdio");
    const { builder, cell } = await startBuilder(bed, hello);
    const others = Array.from({ length: 3 }, () => bed.start(["run", hello]));
    // Each has its session, and with the turn taken none can have built.
    while (sessionsOf(bed.home).length < 4) await aMoment();
    const [turn, ...rest] = namesIn(`${bed.home}/cache`);
    assertEquals([TURN.test(turn ?? ""), rest], [true, []]);
    builder.child.kill("SIGKILL");
    assertEquals((await builder.result()).signal, "SIGKILL");
    for (const other of others) assertEquals(endOf(await other.result()), [0, "hello from wasm\n", ""]);
    resume(cell);
    await waitForNoProcess(bed);
    assertEquals(namesIn(`${bed.home}/cache`), [turn!.slice(".build-".length)]);
    assertEquals(halfMade(bed.home), []);
    await assertNothingAfterGc(bed);
  },
);

/** A run that has the turn to build, and the cell that builds for it, which is stopped: so it stays until one is ended. */
async function startBuilder(bed: Bed, component: string): Promise<{ builder: RunningBoll; cell: number }> {
  for (;;) {
    const builder = bed.start(["run", component]);
    let cell: number | undefined;
    // Before it has become a cell, what is to be its process holds all that its parent holds, the turn as well.
    while (cell === undefined && processesOf(bed).length > 0) {
      [cell] = cellsOf(bed, builder.child.pid);
      await aMoment();
    }
    if (cell !== undefined) Deno.kill(cell, "SIGSTOP");
    if (cell !== undefined && namesIn(`${bed.home}/cache`).every((name) => TURN.test(name))) return { builder, cell };
    // It was faster than this test, and had built.
    if (cell !== undefined) resume(cell);
    await builder.result();
    for (const folder of ["cache", "sessions"]) Deno.removeSync(`${bed.home}/${folder}`, { recursive: true });
  }
}

/** A cell that was stopped early enough has not asked for the death of its parent yet: it finds out by itself. */
function resume(cell: number): void {
  try {
    Deno.kill(cell, "SIGCONT");
  } catch { /* it died with its parent */ }
}

function aMoment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}

function endOf({ code, stdout, stderr }: RunResult): unknown[] {
  return [code, stdout, stderr];
}
