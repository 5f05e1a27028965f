import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { CapsuleError } from "../../base/mod.ts";
import { spawnPatiently } from "../cell_process.ts";
import { ADMISSION_LIMITS } from "./admission.ts";
import { CHILD_TIMINGS } from "./child_state.ts";
import { OWN_PLACE } from "./supervisor_options.ts";
import type { SessionChild } from "./session_child.ts";
import type { SessionLaunch } from "./session_launch.ts";
import {
  conversingLaunch,
  LIMITS,
  payloadFor,
  say,
  SAY_READY,
  sayResult,
  shellLaunch,
  shortTimings,
  WatchedTree,
} from "./tree_fixture.ts";

const WAITS = `${SAY_READY}; sleep 60`;
/** Heeds neither cancel nor SIGTERM. */
const STUBBORN = `trap '' TERM; ${SAY_READY}; while :; do sleep 60; done`;

async function readyChild(tree: WatchedTree, script: string, parent?: string): Promise<SessionChild> {
  const child = tree.spawn(shellLaunch(script), parent === undefined ? {} : { parent });
  await tree.untilReady(child);
  return child;
}

Deno.test("Supervisor.spawn: of 32 at once under a cap of 8 exactly 8 run; a refusal costs nothing; the finished make room", async () => {
  await using tree = new WatchedTree({ treeTokens: 8_000, admission: ADMISSION_LIMITS });
  let prepared = 0;
  const prepare = () => {
    prepared++;
    return shellLaunch(WAITS);
  };
  const answers = Array.from({ length: 32 }, () => tree.supervisor.spawn({ limits: LIMITS, prepare }));
  const children = answers.filter((answer) => answer.kind === "child");
  const gates = answers.flatMap((answer) => answer.kind === "refused" ? [answer.gate] : []);
  assertEquals([children.length, new Set(gates), prepared], [8, new Set(["breadth"]), 8]);
  assertEquals([tree.supervisor.list().length, tree.supervisor.budget.available], [8, 0]);
  await tree.supervisor.stop("3");
  assertEquals([tree.supervisor.list().length, tree.supervisor.budget.available], [7, 1_000]);
  const late = tree.supervisor.spawn({ limits: LIMITS, prepare });
  assert(late.kind === "refused" ? late.gate === "rate" : late.path === "8");
});

Deno.test("Supervisor.spawn: a path is minted from the caller's own, and numbers are used once", async () => {
  await using tree = new WatchedTree();
  const root = await readyChild(tree, WAITS);
  const first = await readyChild(tree, WAITS, root.path);
  const below = await readyChild(tree, WAITS, first.path);
  const second = tree.spawn(shellLaunch(sayResult()), { parent: root.path });
  assertEquals([first.path, below.path, second.path], ["0.1", "0.1.1", "0.2"]);
  await second.ended;
  const third = await readyChild(tree, WAITS, root.path);
  assertEquals([third.path, third.slot.depth, below.slot.depth], ["0.3", 1, 2]);
  assertEquals(tree.supervisor.list().map(({ path }) => path), ["0", "0.1", "0.1.1", "0.3"]);
});

Deno.test("Supervisor.spawn: below its own process children are 0.1, 0.2, bound by its depth and breadth; there is no other root", async () => {
  await using tree = new WatchedTree({
    own: { maxDepth: 1 },
    admission: { ...ADMISSION_LIMITS, maxChildren: 2 },
  });
  const first = await readyChild(tree, WAITS, OWN_PLACE);
  const second = await readyChild(tree, WAITS, OWN_PLACE);
  assertEquals([first, second].map(({ path, slot }) => [path, slot.depth]), [["0.1", 1], ["0.2", 1]]);
  const gateOf = (parent?: string) => {
    const prepare = () => shellLaunch(WAITS);
    const answer = tree.supervisor.spawn({ ...(parent === undefined ? {} : { parent }), limits: LIMITS, prepare });
    return answer.kind === "refused" ? answer.gate : answer.kind;
  };
  assertEquals([gateOf(OWN_PLACE), gateOf(), gateOf("0.9")], ["breadth", "caller", "caller"]);
  tree.supervisor.act("pause", OWN_PLACE);
  assertEquals(tree.supervisor.list().map(({ state }) => state), ["paused", "paused"]);
  tree.supervisor.act("resume", OWN_PLACE);
  await tree.supervisor.stop(OWN_PLACE);
  assertEquals(tree.supervisor.list(), []);
  await using alone = new WatchedTree({ own: { maxDepth: 0 } });
  const refused = alone.supervisor.spawn({ parent: OWN_PLACE, limits: LIMITS, prepare: () => shellLaunch(WAITS) });
  assertEquals(refused.kind === "refused" && refused.gate, "depth");
});

Deno.test("Supervisor.spawn: the caller's own depth binds, and one that has ended starts nothing", async () => {
  await using tree = new WatchedTree();
  const shallow = tree.spawn(shellLaunch(WAITS), { limits: { ...LIMITS, max_depth: 1 } });
  await tree.untilReady(shallow);
  const child = await readyChild(tree, WAITS, shallow.path);
  const deep = tree.supervisor.spawn({ parent: child.path, limits: LIMITS, prepare: () => shellLaunch(WAITS) });
  assertEquals(deep.kind, "child");
  const shallowest = tree.spawn(shellLaunch(WAITS), { limits: { ...LIMITS, max_depth: 0 } });
  const refused = tree.supervisor.spawn({ parent: shallowest.path, limits: LIMITS, prepare: () => shellLaunch(WAITS) });
  assertEquals(refused.kind === "refused" && refused.gate, "depth");
  await tree.supervisor.stop(shallow.path);
  const orphan = tree.supervisor.spawn({ parent: shallow.path, limits: LIMITS, prepare: () => shellLaunch(WAITS) });
  assertEquals(orphan.kind === "refused" && orphan.gate, "caller");
});

Deno.test("Supervisor: a budget that fits one session is the next one's once the first is killed; 0 is refused", async () => {
  await using tree = new WatchedTree({ treeTokens: 1_000 });
  const spent = say({ type: "usage", input_tokens: 90, output_tokens: 10 });
  const first = tree.spawn(shellLaunch(`${SAY_READY}; ${spent}; sleep 60`));
  const ask = (max_tokens: number) =>
    tree.supervisor.spawn({ limits: { ...LIMITS, max_tokens }, prepare: () => shellLaunch(sayResult()) });
  await tree.untilReady(first);
  while (tree.supervisor.budget.spent === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const early = ask(1);
  assert(early.kind === "refused" && early.gate === "tokens");
  Deno.kill(first.node().pid, "SIGKILL");
  await first.ended;
  assertEquals(tree.supervisor.budget.available, 900);
  const [zero, large, fits] = [ask(0), ask(901), ask(900)];
  assert(zero.kind === "refused" && large.kind === "refused" && fits.kind === "child");
  assertEquals([zero.gate, large.gate, (await fits.ended).status], ["tokens", "tokens", "completed"]);
});

Deno.test("Supervisor: the end of a session ends those below it", async () => {
  await using tree = new WatchedTree();
  const root = await readyChild(tree, WAITS);
  const child = await readyChild(tree, WAITS, root.path);
  const below = await readyChild(tree, WAITS, child.path);
  Deno.kill(root.node().pid, "SIGKILL");
  const endings = await Promise.all([root.ended, child.ended, below.ended]);
  assertEquals(endings.map(({ status }) => status), ["crashed", "cancelled", "cancelled"]);
  assertEquals(endings[2]!.detail, "the session that started it has ended");
});

Deno.test("Supervisor: stopping one ends all below it, deepest first, and nothing else", async () => {
  await using tree = new WatchedTree();
  const root = await readyChild(tree, WAITS);
  const child = await readyChild(tree, WAITS, root.path);
  await readyChild(tree, WAITS, child.path);
  const other = await readyChild(tree, WAITS, root.path);
  tree.supervisor.act("pause", other.path);
  await tree.supervisor.stop(child.path);
  assertEquals(tree.records.map(({ path, ended_by }) => [path, ended_by]), [
    ...[["0.1.1", "terminated"], ["0.1", "terminated"]],
  ]);
  assertEquals(tree.supervisor.list().map(({ path, state }) => [path, state]), [
    ...[["0", "running"], ["0.2", "paused"]],
  ]);
});

Deno.test("Supervisor.act: a pause and its end reach all below; what is ending or not there is refused by name", async () => {
  await using tree = new WatchedTree({ timings: CHILD_TIMINGS });
  const root = await readyChild(tree, STUBBORN);
  const child = await readyChild(tree, WAITS, root.path);
  const states = () => tree.supervisor.list().map(({ state }) => state);
  tree.supervisor.act("pause", root.path);
  assertEquals(states(), ["paused", "paused"]);
  tree.supervisor.act("resume", root.path);
  assertEquals(states(), ["running", "running"]);
  tree.supervisor.act("stop", root.path);
  assertEquals(states(), ["running", "ending"]);
  const codeOf = (path: string) => assertThrows(() => tree.supervisor.act("pause", path), CapsuleError).code;
  assertEquals([codeOf(child.path), codeOf("0.9")], ["tree.refused", "tree.not_running"]);
});

Deno.test("Supervisor.drain: deepest first and bounded, who ignores SIGTERM is killed and named, nothing is started", async () => {
  await using tree = new WatchedTree({ timings: { ...CHILD_TIMINGS, cancelMs: 100, termMs: 1_000 } });
  const root = await readyChild(tree, WAITS);
  const child = await readyChild(tree, STUBBORN, root.path);
  const prepare = () => shellLaunch(WAITS);
  const draining = tree.supervisor.drain();
  const late = tree.supervisor.spawn({ parent: root.path, limits: LIMITS, prepare });
  assertEquals(late.kind === "refused" && late.gate, "draining");
  const report = await draining;
  assertEquals([report.killed, report.stragglers], [[child.path], []]);
  assertEquals(report.endings.map(({ path, status, exit }) => [path, status, exit?.signal]), [
    ...[["0.1", "cancelled", "SIGKILL"], ["0", "cancelled", "SIGTERM"]],
  ]);
});

Deno.test("Supervisor.drain: at its bound everything is killed, also what has no process yet; a record that hangs holds up nothing", async () => {
  const never = Promise.withResolvers<never>();
  await using tree = new WatchedTree({
    drain: { patienceMs: 100, killMs: 1_500 },
    ports: { record: () => never.promise },
  });
  const stubborn = await readyChild(tree, STUBBORN);
  const unprepared = tree.supervisor.spawn({ limits: LIMITS, prepare: () => never.promise });
  assert(unprepared.kind === "child");
  const report = await tree.supervisor.drain();
  assertEquals([report.killed, report.stragglers], [[stubborn.path, unprepared.path], []]);
  assertEquals(tree.records.map(({ path, ended_by }) => [path, ended_by]), [["1", "interrupted"], [
    "0",
    "interrupted",
  ]]);
});

Deno.test("Supervisor.stop: while it lasts nothing is started or held there, elsewhere it is; what it leaves is nothing", async () => {
  await using tree = new WatchedTree({ timings: { ...CHILD_TIMINGS, cancelMs: 100, termMs: 500 } });
  const root = await readyChild(tree, WAITS);
  const child = await readyChild(tree, STUBBORN, root.path);
  const other = await readyChild(tree, WAITS);
  const spawn = (parent: string) =>
    tree.supervisor.spawn({ parent, limits: LIMITS, prepare: () => shellLaunch(WAITS) });
  const stopping = tree.supervisor.stop(root.path);
  const again = tree.supervisor.stop(root.path);
  assertEquals([root.phase, child.phase], ["running", "ending"]);
  const late = spawn(root.path);
  assertEquals(late.kind === "refused" && late.gate, "caller");
  for (const action of ["pause", "resume"] as const) {
    assertEquals(assertThrows(() => tree.supervisor.act(action, root.path), CapsuleError).code, "tree.refused");
  }
  const elsewhere = spawn(other.path);
  assertEquals(elsewhere.kind, "child");
  await stopping;
  assertEquals(tree.supervisor.list().map(({ path }) => path), ["1", "1.1"]);
  await again;
});

Deno.test("Supervisor.stop: a session that is being prepared gets no process any more", async () => {
  const prepared = Promise.withResolvers<SessionLaunch>();
  await using tree = new WatchedTree({ timings: CHILD_TIMINGS });
  const child = tree.supervisor.spawn({ limits: LIMITS, prepare: () => prepared.promise });
  assert(child.kind === "child");
  const stopping = tree.supervisor.stop(child.path);
  prepared.resolve(shellLaunch(sayResult()));
  await stopping;
  const { status, ended_by, exit } = await child.ended;
  assertEquals([status, ended_by, exit], ["cancelled", "terminated", undefined]);
});

Deno.test("Supervisor.killNow: a second signal waits for no ladder", async () => {
  await using tree = new WatchedTree();
  const children = [await readyChild(tree, STUBBORN), await readyChild(tree, STUBBORN)];
  const begunMs = performance.now();
  const draining = tree.supervisor.drain();
  tree.supervisor.killNow();
  const report = await draining;
  assert(performance.now() - begunMs < 4_000);
  assertEquals(report.killed, children.map(({ path }) => path));
});

Deno.test("Supervisor: two in one program know nothing of each other", async () => {
  await using one = new WatchedTree();
  await using other = new WatchedTree();
  const [mine, theirs] = [await readyChild(one, WAITS), await readyChild(other, WAITS)];
  assertEquals([mine.path, theirs.path], ["0", "0"]);
  await one.supervisor.drain();
  assertEquals([one.supervisor.list(), other.supervisor.list().length, theirs.phase], [[], 1, "running"]);
  assertEquals((await other.spawn(shellLaunch(sayResult())).ended).status, "completed");
  assertEquals([one.records.length, other.records.length], [1, 1]);
});

Deno.test("Supervisor: a warm session that crashes is started again in its place, until the breaker opens; a one-shot never", async () => {
  const attempts: number[] = [];
  const restarted: string[] = [];
  await using tree = new WatchedTree({
    random: () => 0,
    ports: { restarted: (child) => restarted.push(`${child.path} ${child.slot.attempt}`) },
  });
  const prepare = ({ attempt }: { attempt: number }) => {
    attempts.push(attempt);
    return shellLaunch("exit 1");
  };
  const opened = () => tree.records.some(({ restart }) => restart?.kind === "open");
  const first = tree.supervisor.spawn({ limits: LIMITS, warm: true, prepare });
  assert(first.kind === "child");
  assertEquals((await first.ended).restart, { kind: "restart", delayMs: 500 });
  while (!opened()) await new Promise((resolve) => setTimeout(resolve, 20));
  assertEquals([attempts, restarted, tree.records.at(-1)!.restart], [
    ...[[0, 1], ["0 1"], { kind: "open", weight: 6 }],
  ]);
  const once = await tree.spawn(shellLaunch("exit 1")).ended;
  assertEquals([once.restart, tree.supervisor.list(), tree.supervisor.budget.holders], [undefined, [], 0]);
});

Deno.test("Supervisor: a session that waits for its restart is listed and can be stopped; another goes on", async () => {
  await using tree = new WatchedTree();
  const attempts: string[] = [];
  const crash = () =>
    tree.spawn(shellLaunch("exit 1"), {
      warm: true,
      prepare: ({ path, attempt }) => {
        attempts.push(`${path} ${attempt}`);
        return shellLaunch("exit 1");
      },
    });
  await crash().ended;
  const [node] = tree.supervisor.list();
  assertEquals([node?.path, node?.state, node?.verdict, node?.pid], ["0", "starting", "restarting", 0]);
  assertEquals(assertThrows(() => tree.supervisor.act("pause", "0"), CapsuleError).code, "tree.refused");
  tree.supervisor.act("stop", "0");
  assertEquals(tree.supervisor.list(), []);
  assertEquals(assertThrows(() => tree.supervisor.act("stop", "0"), CapsuleError).code, "tree.not_running");
  await crash().ended;
  // Its restart is due after the one that was called off.
  while (!attempts.includes("1 1")) await new Promise((resolve) => setTimeout(resolve, 20));
  assertEquals(attempts, ["0 0", "1 0", "1 1"]);
});

Deno.test("Supervisor: a restart that waits is called off by the drain", async () => {
  await using tree = new WatchedTree();
  const ending = await tree.spawn(shellLaunch("exit 1"), { warm: true }).ended;
  assertEquals(ending.restart?.kind, "restart");
  await tree.supervisor.drain();
  await new Promise((resolve) => setTimeout(resolve, 700));
  assertEquals([tree.records.length, tree.supervisor.list(), tree.lines], [1, [], []]);
});

Deno.test("Supervisor: intel health is one truth, its changes are told, and the dead are not in it", async () => {
  await using tree = new WatchedTree();
  const down = say({ type: "intel_health", all_down: true });
  const child = await readyChild(tree, `${SAY_READY}; ${down}; ${down}; sleep 60`);
  const told = () => tree.notices.filter(({ kind }) => kind === "intel_health").length;
  await tree.until(() => told() > 0);
  assertEquals(tree.supervisor.intel.down, [child.path]);
  await tree.supervisor.stop(child.path);
  assertEquals([told(), tree.supervisor.intel.down], [1, []]);
});

Deno.test("Supervisor: ports that throw change nothing of how a session ends", async () => {
  await using tree = new WatchedTree({
    ports: {
      callTool: () => {
        throw new Error("no such tool");
      },
    },
  });
  const { outcome } = await tree.spawn(conversingLaunch("ask")).ended;
  assertEquals(outcome?.result, { type: "tool_result", id: 1, result: "no such tool", is_error: true });
});

Deno.test("Supervisor: what it depends on may be as slow as it likes, and its clock goes on", async () => {
  const never = new Promise<never>(() => {});
  await using tree = new WatchedTree({
    timings: shortTimings({ liveness: { progressMs: 400, pongMs: 3_000 } }),
    ports: { callTool: () => never, record: ({ detail }) => detail === undefined ? never : undefined },
  });
  const unprepared = tree.supervisor.spawn({ limits: LIMITS, prepare: () => never });
  const asking = tree.spawn(conversingLaunch("ask"));
  await tree.untilReady(asking);
  const unrecorded = tree.spawn(shellLaunch(sayResult()));
  const stopped = await readyChild(tree, `${SAY_READY}; kill -STOP $$`);
  assertEquals((await stopped.ended).ended_by, "stuck");
  assert(unprepared.kind === "child");
  assertEquals([unprepared, asking, unrecorded].map(({ phase }) => phase), ["starting", "running", "ended"]);
  assertEquals(asking.node().verdict, "busy");
});

Deno.test("Supervisor.list: what ps needs of each session", async () => {
  const before = Date.now();
  await using tree = new WatchedTree();
  const sessionId = `ses_${"a".repeat(32)}`;
  const child = tree.spawn(shellLaunch(WAITS, payloadFor(sessionId)));
  await tree.untilReady(child);
  const [node] = tree.supervisor.list();
  assertEquals(node, {
    path: "0",
    session_id: sessionId,
    capsule: "worker",
    state: "running",
    verdict: "healthy",
    pid: node!.pid,
    tokens_in: 0,
    tokens_out: 0,
    started_ms: node!.started_ms,
    progress_ms: node!.progress_ms,
  });
  assert(node!.pid > 1 && node!.started_ms >= before && node!.progress_ms >= node!.started_ms - 1);
});

Deno.test("spawnPatiently: a system without a process to give is asked again, any other refusal is final", async () => {
  let left = 2;
  const busy = {
    spawn() {
      if (left-- > 0) throw new Deno.errors.WouldBlock("EAGAIN");
      return new Deno.Command("/bin/true", { stdout: "null", stderr: "null" }).spawn();
    },
  };
  assertEquals((await (await spawnPatiently(busy)).status).code, 0);
  const gone = {
    spawn: (): never => {
      throw new Deno.errors.NotFound("no program");
    },
  };
  const error = await assertRejects(() => spawnPatiently(gone, "a session"), Error);
  assertMatch(error.message, /^Start a session: no program/);
});
