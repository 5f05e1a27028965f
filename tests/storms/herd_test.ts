import { assertEquals } from "@std/assert";
import { fixture, forMode, type RunResult } from "../harness.ts";
import { waitForNoProcess } from "../process/leftovers.ts";
import { assertNothingAfterGc, assertWholeRecords, halfMade, namesIn, sessionsOf } from "./whole_records.ts";

const RUNS = 50;

forMode(
  "binary",
  `herd: ${RUNS} runs at once over a cold cache, and over a warm one, all end well with one build`,
  async (bed) => {
    const hello = await fixture("hello_stdio");
    const inodes = new Set<number | null>();
    for (const state of ["cold", "warm"]) {
      const results = await Promise.all(
        Array.from({ length: RUNS }, () => bed.run(["run", hello], { safetyNetMs: 300_000 })),
      );
      for (const result of results) assertEquals(endOf(result), [0, "hello from wasm\n", ""], state);
      const [key, ...others] = namesIn(`${bed.home}/cache`);
      assertEquals(others, []);
      inodes.add(Deno.statSync(`${bed.home}/cache/${key}`).ino);
    }
    assertEquals(inodes.size, 1);
    assertEquals(sessionsOf(bed.home).length, 2 * RUNS);
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
    const runs = Array.from({ length: 4 }, () => bed.start(["run", hello]));
    const turn = /^\.build-[0-9a-f]{64}$/;
    while (!namesIn(`${bed.home}/cache`).some((name) => turn.test(name))) await new Promise((go) => setTimeout(go, 1));
    // Whoever it is that builds: all but one are gone now.
    for (const { child } of runs.slice(1)) child.kill("SIGKILL");
    const [first, ...killed] = await Promise.all(runs.map((running) => running.result()));
    assertEquals(endOf(first!), [0, "hello from wasm\n", ""]);
    for (const { signal } of killed) assertEquals(signal, "SIGKILL");
    await waitForNoProcess(bed);
    // A session that was being made may be left; of a turn to build nothing is.
    assertEquals(halfMade(bed.home).filter((name) => turn.test(name)), []);
    await assertNothingAfterGc(bed);
  },
);

function endOf({ code, stdout, stderr }: RunResult): unknown[] {
  return [code, stdout, stderr];
}
