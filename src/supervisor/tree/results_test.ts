import { assertEquals } from "@std/assert";
import { SAY_READY, sayResult, shellLaunch, WatchedTree } from "./tree_fixture.ts";

/** How many sessions end at once at most; how many in all can be set for a longer run. The bench counts 10 000. */
const AT_ONCE = 16;
const SESSIONS = Number(Deno.env.get("BOLL_TEST_RESULTS") ?? "500");

/** Keeps both cores of a small machine busy, so that exits and output are read late and together. */
function startLoad(): Deno.ChildProcess[] {
  return Array.from(
    { length: 2 },
    () => new Deno.Command("/bin/sh", { args: ["-c", "while :; do :; done"], stdout: "null", stderr: "null" }).spawn(),
  );
}

Deno.test("Supervisor: of sessions that tell their result and go at once, on a busy machine, no result is lost", async () => {
  const load = startLoad();
  try {
    await using tree = new WatchedTree();
    let next = 0;
    const lost: string[] = [];
    const worker = async () => {
      while (next < SESSIONS) {
        const number = next++;
        const { path, status, outcome } = await tree.spawn(shellLaunch(`${SAY_READY}; ${sayResult(number)}`)).ended;
        if (status !== "completed" || outcome?.result !== number) lost.push(`${number} at ${path}: ${status}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    assertEquals([lost, tree.records.length, tree.supervisor.budget.holders], [[], SESSIONS, 0]);
  } finally {
    for (const process of load) process.kill("SIGKILL");
    await Promise.all(load.map(({ status }) => status));
  }
});
