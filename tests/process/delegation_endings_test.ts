import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { type Bed, forExecutable, forMode } from "../harness.ts";
import { childrenOf, environmentOf, statusField } from "../processes.ts";
import type { RunningBoll } from "../running_boll.ts";
import { wholeTrace } from "../storms/whole_records.ts";
import { DelegatingWorkspace } from "./delegating_workspace.ts";
import {
  endings,
  listRunning,
  readHandedOver,
  recordOf,
  sessionIds,
  traceOf,
  untilRunning,
} from "./delegation_records.ts";
import { assertNothingLeft, waitForNoProcess } from "./leftovers.ts";

/** How long a session is asked, and told by SIGTERM, before it is killed, ms. */
const LADDER_MS = 7_000;

const WAIT = `waitFor(delegate({ capsule: args[0] }))`;

/** Capsules of one kind each: one that asks for another, one that asks for a third, and those that do as they are called. */
async function makeSpace(bed: Bed): Promise<DelegatingWorkspace> {
  const space = new DelegatingWorkspace(bed);
  await space.capsule("asker", { grants: { spawn: ["middle", "loops", "quick"] } });
  await space.capsule("middle", { grants: { spawn: ["loops"] }, source: `waitFor(delegate({ capsule: "loops" }))` });
  await space.capsule("loops", { guest: "loop" });
  await space.capsule("quick", { guest: "hello_stdio" });
  await space.lock();
  return space;
}

function start(bed: Bed, space: DelegatingWorkspace, capsule: string): RunningBoll {
  return bed.start([...space.command("asker", WAIT), capsule]);
}

/** Every session of the run that began at `first` has one ending, and each that was delegated to one record of it. */
function assertOneEndingEach(bed: Bed, first = 0): void {
  for (const [index, id] of sessionIds(bed).slice(first).entries()) {
    const ends = traceOf(bed, id).filter(({ event }) => event === "session_end");
    assertEquals([id, ends.length], [id, 1]);
    assertEquals(recordOf(bed, id, "summary")["status"], ends[0]!["status"]);
    if (index > 0) assertEquals(recordOf(bed, id, "completion")["session_id"], id);
  }
}

forMode(
  "binary",
  "boll run: interrupted while a child stands between its record and its exit, it ends, and says of the child what was so",
  async (bed) => {
    const space = await makeSpace(bed);
    const caught = await catchReporting(bed, space);
    caught.run.child.kill("SIGINT");
    await untilState(bed, "0.1", "ending");
    Deno.kill(caught.child, "SIGCONT");
    assertEquals((await caught.run.result()).code, 130);
    const child = sessionIds(bed).at(-1)!;
    assertEquals(recordOf(bed, child, "summary")["status"], "completed");
    const { status, reported_by, detail } = recordOf(bed, child, "completion");
    // Either word is true: it had done its work, and it was being ended.
    if (status === "ok") assertEquals([reported_by, detail], ["launcher", undefined]);
    else assertEquals([status, detail], ["terminated", "the run was interrupted"]);
    assertNothingLeft(bed);
  },
);

forMode(
  "binary",
  "boll run: parent and child killed in the same moment are each recorded once, and their parent reads it",
  async (bed) => {
    const space = await makeSpace(bed);
    const run = start(bed, space, "middle");
    const nodes = await untilRunning(bed, "0.1.1");
    for (const path of ["0.1", "0.1.1"]) Deno.kill(nodes.find((node) => node.path === path)!.pid, "SIGKILL");
    const { code, stdout, stderr } = await run.result();
    assertEquals(code, 0, stderr);
    const told = readHandedOver(JSON.parse(stdout));
    assertEquals([told.capsule, told.status], ["middle", "crashed"]);
    assertMatch(told.detail, /SIGKILL/);
    assertOneEndingEach(bed);
    const [, middle, loops] = sessionIds(bed);
    assertEquals(recordOf(bed, middle!, "completion")["status"], "crashed");
    const { status, detail } = recordOf(bed, loops!, "completion");
    // The kernel's word comes first, or the launcher's, who ends what the dead one had started.
    assert(status === "crashed" ? /SIGKILL/.test(String(detail)) : status === "terminated", `${status}: ${detail}`);
    assertNothingLeft(bed);
  },
);

forExecutable(
  "boll run: a second Ctrl-C does not wait for a child that heeds nothing; records say interrupted",
  async (bed) => {
    const space = await makeSpace(bed);
    // Where the machine takes longer than the ladder, a turn says nothing.
    for (let turns = 0, isAtOnce = false; !isAtOnce; turns++) {
      assert(turns < 3, "it took as long as the ladder each time");
      const before = turns * 2;
      const run = start(bed, space, "loops");
      const nodes = await untilRunning(bed, "0.1");
      const { pid, session_id } = nodes.find(({ path }) => path === "0.1")!;
      // Stopped, it hears neither the word nor SIGTERM.
      Deno.kill(pid, "SIGSTOP");
      const startMs = performance.now();
      run.child.kill("SIGINT");
      await untilState(bed, "0.1", "ending");
      run.child.kill("SIGINT");
      const { code, lastLine } = await run.result();
      isAtOnce = performance.now() - startMs < LADDER_MS;
      assertEquals(code, 130);
      assertMatch(lastLine, /^boll: interrupted/);
      assertOneEndingEach(bed, before);
      const end = traceOf(bed, session_id).at(-1);
      assertEquals([end?.["status"], end?.["ended_by"]], ["cancelled", "interrupted"]);
      const { status, detail } = recordOf(bed, session_id, "completion");
      assertEquals([status, detail], ["terminated", "the run was interrupted"]);
      assertEquals(traceOf(bed, sessionIds(bed)[before]!).at(-1)?.["ended_by"], "interrupted");
      await waitForNoProcess(bed);
    }
  },
);

forExecutable(
  "boll trace follow: prints what children do as they come, each line with its path and capsule, to the end",
  async (bed) => {
    const space = await makeSpace(bed);
    const run = start(bed, space, "middle");
    await untilRunning(bed, "0.1.1");
    const follower = bed.start(["trace", "follow", sessionIds(bed)[0]!]);
    await follower.stdout.waitFor(/^0\.1 middle \| .*delegation_start/m);
    await follower.stdout.waitFor(/^0\.1\.1 loops \| .*walls/m);
    assertEquals((await bed.run(["stop", "0.1.1"])).code, 0);
    assertEquals((await run.result()).code, 0);
    const { code, stdout } = await follower.result();
    assertEquals(code, 0);
    assertMatch(stdout, /^0\.1\.1 loops \| .*session_end +cancelled/m);
    assertMatch(stdout, /^0\.1 middle \| .*delegation +.*terminated/m);
    assertMatch(stdout, /^0\.1 middle \| .*session_end +completed/m);
    assertMatch(stdout, /^ +\+.*session_end +completed/m);
  },
);

forMode(
  "binary",
  "boll trace tree: a child that died before it said a word is drawn, with its cause and what it was granted",
  async (bed) => {
    const space = await makeSpace(bed);
    const [run, child] = await killUnborn(bed, () => start(bed, space, "quick"));
    const { code, stdout, stderr } = await run.result();
    assertEquals(code, 0, stderr);
    assertStringIncludes(JSON.parse(stdout), "quick@0.1.0 ended crashed");
    assertEquals(traceOf(bed, child).map(({ event }) => event), ["session_end"]);
    const root = sessionIds(bed).at(-2)!;
    const drawn = (await bed.run(["trace", "tree", root])).stdout;
    assertMatch(
      drawn,
      /\n└─ quick 0\.1\.0 {2}crashed {2}.*ses_\w+\n {6}the session was ended by SIGKILL without a result\n {6}no folder, no network\n$/,
    );
    const [, line] = (await bed.run(["trace", "tree", root, "--json"])).stdout.trimEnd().split("\n");
    const { session_id, spawned_by, capsule, detail, delegation_status } = JSON.parse(line!);
    assertEquals([session_id, spawned_by, capsule, delegation_status], [child, root, "quick", "crashed"]);
    assertMatch(detail, /SIGKILL/);
    assertEquals((await endings(bed)).at(-1), ["quick", "crashed"]);
  },
);

forMode(
  "binary",
  "boll run: what a child's session warns of is on stderr, with its delegation; --quiet says nothing",
  async (bed) => {
    const space = await makeSpace(bed);
    for (const flags of [[], ["--quiet"]]) {
      const run = bed.start([...space.command("asker", WAIT, flags), "loops"]);
      const nodes = await untilRunning(bed, "0.1");
      // Something else than a frame comes down the pipe that only its supervisor has.
      const { pid, session_id } = nodes.find(({ path }) => path === "0.1")!;
      Deno.writeTextFileSync(`/proc/${pid}/fd/0`, "\xff\xff\xff\xff no frame");
      const { code, stdout, stderr } = await run.result();
      assertEquals(code, 0, stderr);
      const told = readHandedOver(JSON.parse(stdout));
      assertEquals([told.status, told.session], ["crashed", session_id]);
      if (flags.length > 0) assertEquals(stderr, "");
      else assertMatch(stderr, new RegExp(`^boll: warning: ${told.id}: .*frame.*\\n$`, "i"));
    }
  },
);

/** A run whose child was stopped after it had written its ending, and before it had ended. */
async function catchReporting(bed: Bed, space: DelegatingWorkspace): Promise<{ run: RunningBoll; child: number }> {
  while (true) {
    const before = bedSessions(bed);
    const run = start(bed, space, "quick");
    const ended = run.result().then(() => true);
    const child = await Promise.race([ended, findSession(run.child.pid)]);
    const session = bedSessions(bed).filter((id) => !before.includes(id)).sort().at(-1)!;
    if (typeof child === "number" && stopAtRecord(join(bed.home, "sessions", session), child)) return { run, child };
    if (typeof child === "number") continueQuietly(child);
    await ended;
  }
}

/** Stops a process the moment its trace has an ending; false when it was gone by then. Looks without a pause. */
function stopAtRecord(session: string, pid: number): boolean {
  while (!wholeTrace(session).some(({ event }) => event === "session_end")) {
    if (isGone(pid)) return false;
  }
  try {
    Deno.kill(pid, "SIGSTOP");
    while (!/^[TtZ]/.test(statusField(pid, "State")));
    return statusField(pid, "State").startsWith("T");
  } catch {
    return false;
  }
}

/** A run whose child is killed before it has written a word; and that child's session. */
async function killUnborn(bed: Bed, startRun: () => RunningBoll): Promise<[RunningBoll, string]> {
  while (true) {
    const run = startRun();
    const ended = run.result().then(() => true);
    const child = await Promise.race([ended, findSession(run.child.pid)]);
    if (typeof child === "number") {
      try {
        Deno.kill(child, "SIGKILL");
      } catch { /* it has ended */ }
    }
    await ended;
    const session = sessionIds(bed).at(-1)!;
    if (traceOf(bed, session)[0]?.event === "session_end") return [run, session];
  }
}

/** The session process of a run, as soon as there is one; never when there is none. */
function findSession(main: number): Promise<number> {
  return new Promise((resolve) => {
    const look = () => {
      try {
        const found = childrenOf(main).find((pid) => environmentOf(pid)["BOLL_CHILD"] === "session");
        if (found !== undefined) return resolve(found);
      } catch { /* one of them has ended */ }
      if (!isGone(main)) setTimeout(look, 1);
    };
    look();
  });
}

async function untilState(bed: Bed, path: string, state: string): Promise<void> {
  while (!(await listRunning(bed)).some((node) => node.path === path && node.state === state));
}

function bedSessions(bed: Bed): string[] {
  try {
    return sessionIds(bed).filter((id) => id.startsWith("ses_"));
  } catch {
    return []; // there is no home yet
  }
}

function isGone(pid: number): boolean {
  try {
    return statusField(pid, "State").startsWith("Z");
  } catch {
    return true;
  }
}

function continueQuietly(pid: number): void {
  try {
    Deno.kill(pid, "SIGCONT");
  } catch { /* it has ended */ }
}
