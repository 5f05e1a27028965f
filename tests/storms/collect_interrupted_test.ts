import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path";
import { createSession, openHome, TraceWriter } from "../../src/records/mod.ts";
import { type Bed, forMode, type RunningBoll } from "../harness.ts";
import { assertNothingAfterGc, assertWholeRecords, halfMade, namesIn, sessionsOf } from "./whole_records.ts";

const SESSIONS = 300;
const KEPT = 5;

forMode(
  "binary",
  "gc: Ctrl-C while it removes leaves each session whole or gone, and the next one finishes",
  async (bed) => {
    const running = await startRemoval(bed);
    const before = halfMade(bed.home).length;
    running.child.kill("SIGINT");
    running.child.kill("SIGCONT");
    const { code, stdout } = await running.result();
    assertEquals([code, stdout], [130, ""]);
    const left = halfMade(bed.home);
    assert(left.length > 0 && left.length <= before && left.every((name) => name.startsWith(".gone-")), left[0]);
    // What was to stay has stayed; no reader sees what is on its way out.
    assertEquals(sessionsOf(bed.home).length, KEPT);
    assertWholeRecords(bed.home);
    const listed = (await bed.run(["sessions", "--json", "--limit", "all"])).stdout.trimEnd().split("\n");
    assertEquals(listed.map((line) => JSON.parse(line).status), Array(KEPT).fill("completed"));
    const next = JSON.parse((await bed.run(["gc", "--json"])).stdout);
    assertEquals([next.leftovers.removed, next.sessions.removed, next.failed], [left.length, 0, []]);
    assertEquals(namesIn(join(bed.home, "sessions")).length, KEPT);
    await assertNothingAfterGc(bed);
  },
);

/** A removal of all but a few of many sessions that is half-way, and stopped. */
async function startRemoval(bed: Bed): Promise<RunningBoll> {
  for (;;) {
    makeSessions(bed.home, SESSIONS - sessionsOf(bed.home).length);
    const running = bed.start(["gc", "--keep", String(KEPT)]);
    // First each is taken from its readers, then they are removed.
    while (sessionsOf(bed.home).length > KEPT) await new Promise((resolve) => setTimeout(resolve, 1));
    running.child.kill("SIGSTOP");
    if (halfMade(bed.home).length > 0) return running;
    // It was faster than this test.
    running.child.kill("SIGCONT");
    assertEquals((await running.result()).code, 0);
  }
}

function makeSessions(home: string, count: number): void {
  const opened = openHome((name) => name === "BOLL_HOME" ? home : undefined);
  for (let made = 0; made < count; made++) {
    using places = createSession(opened);
    using trace = new TraceWriter(places);
    trace.append("session_end", { status: "completed", exit_code: 0, ended_by: "guest", duration_ms: 1 });
  }
}
