import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { recordEnding } from "../../src/session/mod.ts";
import {
  CHILD_TIMINGS,
  type ChildEnding,
  type SessionChild,
  type SessionLaunch,
  Supervisor,
} from "../../src/supervisor/tree/mod.ts";
import { WIDE } from "../../src/supervisor/tree/tree_fixture.ts";
import { Bed, forExecutable, forMode, REPOSITORY } from "../harness.ts";
import { childrenOf, waitForEnd } from "../processes.ts";
import { assertNothingLeft, processesOf } from "./leftovers.ts";
import {
  prepareCapsule,
  prepareGuest,
  readAnswer,
  readTrace,
  type SessionOptions,
  waitForText,
} from "./running_session.ts";
import type { PreparedSession } from "../../src/session/mod.ts";
import { warmGuest } from "../warm_cache.ts";

/** How many sessions answer one after the other, which can be set, and how many at once. */
const MANY = Number(Deno.env.get("BOLL_TEST_SESSIONS") ?? "300");
const AT_ONCE = 4;

/** A session of the guest `name` in a tree, and what was prepared for it. */
async function spawnIn(tree: Supervisor, bed: Bed, name: string, options: SessionOptions = {}) {
  const prepared = await prepareGuest(bed, name, options);
  const { launch } = prepared;
  const child = tree.spawn({ limits: launch.payload.limits, role: "command", prepare: (): SessionLaunch => launch });
  if (child.kind !== "child") throw new Error(`Spawn a session: refused at ${child.gate}`);
  return { child, prepared };
}

/** Until the session has a cell. */
async function waitForCell(child: SessionChild): Promise<void> {
  const hasCell = ({ pid = 0 }) => pid > 0 && childrenOf(pid).length > 0;
  while (!hasCell(child.node())) await new Promise((resolve) => setTimeout(resolve, 5));
}

function causeOf({ status, ended_by, outcome }: ChildEnding): unknown[] {
  return [status, ended_by, outcome?.result];
}

/** A guest that never ends, and is up when this comes back. */
async function spawnBusy(tree: Supervisor, bed: Bed): Promise<{ child: SessionChild; prepared: PreparedSession }> {
  const spawned = await spawnIn(tree, bed, "probe", { task: { args: ['print("up"); printError("up"); for (;;);'] } });
  await waitForText(`${spawned.prepared.places.runtime}/logs/stderr.log`, "up");
  return spawned;
}

forExecutable(
  "supervised session: its result, its failure and its death reach whoever waits, each by its name",
  async (bed) => {
    await using tree = new Supervisor({ treeTokens: 1_000 });
    const done = await spawnIn(tree, bed, "cat", { task: { instruction: "asked" } });
    assertEquals(causeOf(await done.child.ended), ["completed", "guest", "asked"]);
    const trapped = await spawnIn(tree, bed, "trap");
    assertEquals((await trapped.child.ended).status, "failed");
    const refused = await spawnIn(tree, bed, "ok", { task: { warm: false, output_schema: {} } });
    const ending = await refused.child.ended;
    assertEquals([ending.status, ending.error?.code], ["failed", "payload.unsupported"], JSON.stringify(ending));
    const busy = await spawnBusy(tree, bed);
    const pid = busy.child.node().pid!;
    const [cell] = childrenOf(pid);
    Deno.kill(pid, "SIGKILL");
    const killed = await busy.child.ended;
    assertEquals([killed.status, killed.ended_by], ["crashed", "crashed"]);
    assertStringIncludes(String(killed.detail), "SIGKILL");
    await waitForEnd(cell!);
    assertEquals([tree.list(), tree.budget.holders], [[], 0]);
    for (const { prepared } of [done, trapped, refused, busy]) prepared[Symbol.dispose]();
  },
);

forExecutable(
  "supervised session: it is paused, resumed and stopped by its path, and its partial answer is kept",
  async (bed) => {
    await using tree = new Supervisor({ treeTokens: 1_000 });
    const { child, prepared } = await spawnBusy(tree, bed);
    tree.act("pause", child.path);
    assertEquals(tree.list().map(({ state }) => state), ["paused"]);
    tree.act("resume", child.path);
    assertEquals(tree.list().map(({ state }) => state), ["running"]);
    await tree.stop(child.path);
    const ending = await child.ended;
    assertEquals(causeOf(ending), ["cancelled", "terminated", "up\n"]);
    assertEquals(readAnswer(prepared), "up\n");
    prepared[Symbol.dispose]();
  },
);

forExecutable(
  "supervised session: one that the kernel stopped is stuck, 124 in its record, and neither it nor its cell is left",
  async (bed) => {
    const timings = { ...CHILD_TIMINGS, liveness: { progressMs: 500, pongMs: 5_000 }, cancelMs: 100, termMs: 100 };
    await using tree = new Supervisor({ treeTokens: 1_000, timings });
    const { child, prepared } = await spawnBusy(tree, bed);
    const { pid } = child.node();
    const [cell] = childrenOf(pid);
    Deno.kill(pid, "SIGSTOP");
    const ending = await child.ended;
    assertEquals([ending.status, ending.ended_by, ending.exit?.signal], ["deadline", "stuck", "SIGKILL"]);
    await waitForEnd(cell!);
    recordEnding(prepared.places, ending);
    const { status, exit_code, ended_by } = readTrace(prepared).at(-1)!;
    assertEquals([status, exit_code, ended_by], ["deadline", 124, "stuck"]);
    prepared[Symbol.dispose]();
  },
);

/** Ever longer messages: each but the last leaves room for the next to come in, and what is made of it is four times that. */
const GROWING_BYTES = [1, 2, 4, 8, 15].map((mib) => mib * 2 ** 20);

forMode(
  "binary",
  "supervised session: one that fills its memory beyond its limit ends as memory, and its cell with it; one with room enough goes on",
  async (bed) => {
    const path = Deno.realPathSync(await warmGuest(bed, "loop"));
    assertEquals((await bed.run(["run", "--dry-run", "--memory", "1m", path])).code, 0);
    for (
      const [memory_bytes, ends] of [[2 ** 20, ["failed", "memory"]], [2 ** 30, ["cancelled", "terminated"]]] as const
    ) {
      const rejected: string[] = [];
      const last = Promise.withResolvers<void>();
      await using tree = new Supervisor({
        treeTokens: 1_000,
        ports: {
          notice: (_, notice) => {
            if (notice.kind !== "event" || notice.event !== "intel.swap.reject") return;
            if (rejected.push(notice.event) === GROWING_BYTES.length) last.resolve();
          },
        },
      });
      using prepared = await prepareCapsule(bed, path, { guestLimits: { memory_mb: 1 }, limits: { memory_bytes } });
      const { launch, places } = prepared;
      const child = tree.spawn({ limits: launch.payload.limits, role: "command", prepare: () => launch });
      assert(child.kind === "child");
      await waitForCell(child);
      const [cell] = childrenOf(child.node().pid!);
      for (const bytes of GROWING_BYTES) {
        const swap = { uri: "", policy: "finish-on-old", unknown: "x".repeat(bytes) } as const;
        assertEquals(child.swap(swap), "done");
      }
      await Promise.race([last.promise, child.ended]);
      if (ends[1] === "terminated") await tree.stop(child.path);
      const ending = await child.ended;
      assertEquals<unknown>([ending.status, ending.ended_by], ends, JSON.stringify(ending));
      await waitForEnd(cell!);
      if (ends[1] !== "memory") continue;
      assertStringIncludes(ending.detail!, "at its memory limit");
      recordEnding(places, ending);
      const { status, exit_code, ended_by } = readTrace(prepared).at(-1)!;
      assertEquals([status, exit_code, ended_by], ["failed", 8, "memory"]);
    }
    assertNothingLeft(bed);
  },
);

forMode("binary", "supervised session: of three hundred that answer and go, no result is lost", async (bed) => {
  await using tree = new Supervisor({ treeTokens: 1_000, admission: WIDE });
  let next = 0;
  const worker = async () => {
    while (next < MANY) {
      const instruction = `number ${next++}`;
      const { child, prepared } = await spawnIn(tree, bed, "cat", { task: { instruction } });
      const ending = await child.ended;
      assertEquals(causeOf(ending), ["completed", "guest", instruction], JSON.stringify(ending));
      assertEquals(readAnswer(prepared), instruction);
      assertEquals(readTrace(prepared).filter(({ event }) => event === "session_end").length, 1);
      prepared[Symbol.dispose]();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  assertEquals([tree.list(), tree.budget.holders, tree.budget.spent], [[], 0, 0]);
  assertNothingLeft(bed);
});

/** As the entrypoint of a container: process 1 of a namespace of its own. */
const UNSHARE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"] as const;

const canBeFirst =
  new Deno.Command("unshare", { args: [...UNSHARE.slice(1), "true"], stderr: "null" }).outputSync().success;

/** A supervisor in a program of its own, with one session that has a cell; `before` stands before its command line. */
async function startDoomed(bed: Bed, before: readonly string[]) {
  const program = `${REPOSITORY}/tests/process/doomed_supervisor.ts`;
  const [first, ...args] = [...before, Deno.execPath(), "run", "-A", "--no-check", "--quiet", program, bed.mode];
  const child = new Deno.Command(first!, { args, stdout: "piped" }).spawn();
  const reader = child.stdout.getReader();
  let said = "";
  while (!said.includes("\n")) said += new TextDecoder().decode((await reader.read()).value);
  const { root, pids } = JSON.parse(said) as { root: string; pids: number[] };
  assertEquals(pids.length, 2);
  const remove = async () => {
    await reader.cancel();
    Deno.removeSync(root, { recursive: true });
  };
  return { child, root, pids, [Symbol.asyncDispose]: remove };
}

forExecutable("supervised session: its supervisor is killed, and no session and no cell outlives it", async (bed) => {
  await using doomed = await startDoomed(bed, []);
  doomed.child.kill("SIGKILL");
  await doomed.child.status;
  for (const pid of doomed.pids) await waitForEnd(pid);
});

Deno.test({
  name: `supervised session: its supervisor is killed as process 1, and no session and no cell outlives it${
    canBeFirst ? "" : " (NOT RUN: no namespaces here)"
  }`,
  ignore: !canBeFirst,
  async fn() {
    await using bed = new Bed("binary");
    await using doomed = await startDoomed(bed, UNSHARE);
    // Its own numbers are those of its namespace.
    const below = processesOf(doomed);
    assertEquals(below.length, 2);
    Deno.kill(childrenOf(doomed.child.pid)[0]!, "SIGKILL");
    await doomed.child.status;
    for (const pid of below) await waitForEnd(pid);
    assertEquals(processesOf(doomed), []);
  },
});
