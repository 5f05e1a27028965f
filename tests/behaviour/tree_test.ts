import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { cacheKey } from "../../src/component/mod.ts";
import { NO_GRANTS } from "../../src/grants/mod.ts";
import { commandOf, digestCapsule, loadCapsule } from "../../src/manifest/mod.ts";
import { createSession, openHome, tryTakeBuildTurn } from "../../src/records/mod.ts";
import { type Bed, fixture, forExecutable, type RunningBoll } from "../harness.ts";
import { cellOf, statusField } from "../processes.ts";

/** A run whose guest copies its stdin until that ends, once it is called. */
async function startCat(bed: Bed): Promise<RunningBoll> {
  const running = bed.start(["run", await fixture("cat")], { stdin: { open: true } });
  await running.write("up\n");
  await running.stdout.waitFor("up\n");
  return running;
}

/** What `ps --json` lists. */
async function listed(bed: Bed): Promise<Record<string, unknown>[]> {
  const { code, stdout } = await bed.run(["ps", "--json"]);
  assertEquals(code, 0);
  return stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}

/** Runs a verb again until its tree answers: the socket is opened while the guest starts. */
async function once(bed: Bed, args: readonly string[]) {
  for (let turn = 0;; turn++) {
    const result = await bed.run(args);
    if (turn === 100 || !/does not answer|nothing runs there/.test(result.stderr)) return result;
  }
}

forExecutable(
  "ps, pause, resume, stop: a run is seen, held, let go and ended, and each verb waits until it is so",
  async (bed) => {
    assertEquals((await bed.run(["ps"])).stdout, "Nothing runs.\n");
    const running = await startCat(bed);
    const paused = await once(bed, ["pause", "last"]);
    assertMatch(paused.stdout, /^paused ses_[0-9a-f]{32}\n$/);
    assertMatch(statusField(cellOf(running.child.pid), "State"), /^T/);
    const [node] = await listed(bed);
    assertEquals([node?.path, node?.capsule, node?.state, node?.pid], ["0", "cat", "paused", running.child.pid]);
    await running.write("held\n");
    const table = (await bed.run(["ps"])).stdout;
    assertMatch(table, /^SESSION +PATH +CAPSULE +STATE .*\nses_[0-9a-f]{32} +0 +cat +paused .*\n$/);
    const resumed = await bed.run(["resume", "0", "--json"]);
    assertEquals(JSON.parse(resumed.stdout), { session_id: node?.session_id, path: "0", state: "running" });
    await running.stdout.waitFor("held\n");
    const stopped = await bed.run(["stop", String(node?.session_id)]);
    assertEquals(stopped.stdout, `ended ${node?.session_id} (cancelled)\n`);
    const { code, lastLine } = await running.result();
    assertEquals(code, 130);
    assertMatch(lastLine, /^boll: stopped \(ended by `boll stop`\)/);
    assertEquals(bed.trace().at(-1)?.ended_by, "terminated");
    assertEquals([await listed(bed), [...Deno.readDirSync(`${bed.root}/run/boll`)]], [[], []]);
    const again = await bed.run(["stop", "last"]);
    assertEquals(again.code, 2);
    assertStringIncludes(again.lastLine, "has ended (cancelled)");
  },
);

forExecutable(
  "stop: ends a paused run and one that never yields; a path that two trees have is refused",
  async (bed) => {
    const held = await startCat(bed);
    const paused = await once(bed, ["pause", "last", "--json"]);
    assertEquals([paused.code, JSON.parse(paused.stdout).state], [0, "paused"]);
    const busy = bed.start(["run", await fixture("loop")]);
    while ((await listed(bed)).filter(({ path }) => path === "0").length < 2);
    const both = await bed.run(["stop", "0"]);
    assertEquals(both.code, 2);
    assertStringIncludes(both.lastLine, "2 trees have it; name a session: ses_");
    for (const { session_id } of await listed(bed)) {
      const { code, stdout } = await bed.run(["stop", String(session_id), "--json"]);
      assertEquals([code, JSON.parse(stdout)], [0, { session_id, path: "0", state: "ended", status: "cancelled" }]);
    }
    for (const running of [held, busy]) assertEquals((await running.result()).code, 130);
  },
);

forExecutable(
  "ps: a run whose supervisor was killed is marked and gone; one that does not answer is listed as that",
  async (bed) => {
    const killed = await startCat(bed);
    killed.child.kill("SIGKILL");
    await killed.child.status;
    assertEquals(await listed(bed), []);
    const [session] = bed.sessions();
    assertStringIncludes(Deno.readTextFileSync(`${session}/records/trace.jsonl`), `"status":"crashed"`);
    await killed.result();
    const mute = await startCat(bed);
    await once(bed, ["pause", "last"]);
    Deno.removeSync(`${bed.sessions().at(-1)}/records/control`);
    const [node] = await listed(bed);
    assertEquals([node?.path, node?.verdict], ["?", "no answer"]);
    assertEquals((await bed.run(["stop", "last"])).code, 1);
    mute.child.kill("SIGTERM");
    assertEquals((await mute.result()).code, 130);
  },
);

forExecutable("stop: a service drains; it cannot be held", async (bed) => {
  const service = bed.start(["serve-http", await fixture("served_probe"), "--listen", "0", "--cells", "1"]);
  await service.stdout.waitFor("listening on");
  const paused = await once(bed, ["pause", "0"]);
  assertEquals(paused.code, 1);
  assertStringIncludes(paused.lastLine, "cannot be held; stop it instead");
  const stopped = await bed.run(["stop", "0"]);
  assertMatch(stopped.stdout, /^ended ses_[0-9a-f]{32} \(completed\)\n$/);
  assertEquals((await service.result()).code, 0);
});

/** Takes from every run the turn to build the guest `name`: they wait for it. */
async function takeBuildTurn(bed: Bed, name: string): Promise<Disposable> {
  const { component } = digestCapsule(commandOf(await loadCapsule(await fixture(name))));
  const turn = tryTakeBuildTurn(`${bed.home}/cache`, cacheKey(component, { memoryMb: NO_GRANTS.limits.memory_mb }));
  if (turn === undefined) throw new Error(`Build ${name}: another builds it already`);
  return turn;
}

forExecutable("stop: a run and a service whose component is still being built are seen, and ended", async (bed) => {
  for (const [verb, guest, ...flags] of [["run", "cat"], ["serve-http", "served_probe", "--listen", "0"]] as const) {
    using _turn = await takeBuildTurn(bed, guest);
    const running = bed.start([verb, await fixture(guest), ...flags]);
    let nodes = await listed(bed);
    while (nodes[0]?.path !== "0") nodes = await listed(bed);
    assertEquals([nodes.length, nodes[0]?.state, nodes[0]?.verdict], [1, "starting", "healthy"]);
    if (verb === "run") assertMatch((await bed.run(["pause", "0"])).stdout, /^paused ses_/);
    assertMatch((await bed.run(["stop", "0"])).stdout, /^ended ses_[0-9a-f]{32} \(cancelled\)\n$/);
    const { code, lastLine } = await running.result();
    assertEquals(code, 130);
    assertMatch(lastLine, /^boll: stopped \(ended by `boll stop`\)/);
    assertEquals([bed.trace().at(-1)?.ended_by, await listed(bed)], ["terminated", []]);
  }
});

forExecutable(
  "stop: a session is found by its tree, whatever its own records say; a run that was stopped, by its silence",
  async (bed) => {
    const running = await startCat(bed);
    assertEquals((await once(bed, ["pause", "last"])).code, 0);
    running.child.kill("SIGSTOP");
    const mute = await bed.run(["stop", "last"]);
    running.child.kill("SIGCONT");
    assertEquals(mute.code, 1);
    assertStringIncludes(mute.lastLine, "let it go on first: `fg`");
    const records = `${bed.sessions().at(-1)}/records`;
    // As if another session's tree held it, whose records lie: it has ended, and is asked nowhere.
    const other = createSession(openHome((name) => bed.environment()[name]));
    Deno.copyFileSync(`${records}/control`, `${other.records}/control`);
    Deno.removeSync(`${records}/control`);
    const [{ session_id } = {}] = (await listed(bed)).filter(({ path }) => path === "0");
    const end = { event: "session_end", ts: 1, session_id, status: "completed", exit_code: 0, ended_by: "guest" };
    Deno.writeTextFileSync(`${records}/trace.jsonl`, JSON.stringify(end) + "\n", { append: true });
    const resumed = await bed.run(["resume", String(session_id)]);
    assertEquals(resumed.stdout, `running ${session_id}\n`, resumed.stderr);
    running.child.kill("SIGTERM");
    assertEquals((await running.result()).code, 130);
    const ended = await bed.run(["stop", String(session_id)]);
    assertEquals(ended.code, 2);
    assertStringIncludes(ended.lastLine, "has ended (cancelled)");
    other.close();
  },
);
