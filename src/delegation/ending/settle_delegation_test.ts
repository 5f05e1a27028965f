import { assert, assertEquals } from "@std/assert";
import { type Completion, readCompletion, writeCompletion } from "../../records/mod.ts";
import { say, SAY_READY, sayResult, shellLaunch, WatchedTree } from "../../supervisor/tree/tree_fixture.ts";
import { ENDED_BY_PARENT, type EndingSources, type Launched } from "./decide_completion.ts";
import { doorOf, openDoor } from "../notice/door_fixture.ts";
import { ENDED, spawnerOf, withRecord } from "./report_fixture.ts";
import { isToldAlready, settleDelegation } from "./settle_delegation.ts";

const WAITING = { sessionId: "ses_1", isWaiting: (id: string) => id === ENDED.delegation_id };
const { delegation_id, session_id, capsule_name, capsule_version, workdir } = ENDED;
const LAUNCHED: Launched = { delegation_id, session_id, capsule_name, capsule_version, workdir };
const KILLED: EndingSources["ending"] = {
  status: "crashed",
  ended_by: "crashed",
  detail: "the session was ended by SIGKILL without a result",
  tail: "",
  duration_ms: 42,
};

const settle = (ending: EndingSources["ending"], places: { completion: string }, url?: string) =>
  settleDelegation(ending, { launched: LAUNCHED, places, spawner: spawnerOf(url), warn: () => {} });

Deno.test("isToldAlready: what the child delivered is never told twice, what it did not is told once more", () => {
  const told = (decided: Completion, url?: string) => isToldAlready(decided, { spawner: spawnerOf(url) });
  const url = "http://127.0.0.1:1/";
  assert(told({ ...ENDED, delivered: true }, url) && told({ ...ENDED, delivered: true }));
  assert(!told(ENDED, url) && told(ENDED));
  assert(!told({ ...ENDED, reported_by: "launcher" }, url) && !told({ ...ENDED, reported_by: "launcher" }));
});

Deno.test("settleDelegation: a child that delivered is left alone, one that did not is retried once, and told by its own word", () =>
  withRecord(async (places) => {
    await using door = openDoor(doorOf(WAITING));
    writeCompletion(places, { ...ENDED, delivery_error: "nothing listens at 127.0.0.1:1" });
    const retried = await settle(KILLED, places, door.url);
    assertEquals([retried, readCompletion(places, ENDED)], [{ ...ENDED, delivered: true }, retried]);
    assertEquals(door.arrivals.length, 1);
    assertEquals(await settle(KILLED, places, door.url), retried);
    assertEquals(door.arrivals.length, 1);
  }));

Deno.test("settleDelegation: a child killed between its record and its post: the ending is there, and one retry delivers it", () =>
  withRecord(async (places) => {
    const answer = doorOf(WAITING);
    const { promise: isKilled, resolve: letGo } = Promise.withResolvers<void>();
    let isFirst = true;
    await using door = openDoor(async (arrival) => {
      const hangs = isFirst;
      isFirst = false;
      if (hangs) await isKilled;
      return answer(arrival);
    });
    const program = import.meta.resolve("./report_fixture.ts");
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", "--frozen", program, places.completion, door.url],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    await door.arrived;
    child.kill("SIGKILL");
    await child.status;
    letGo();
    assertEquals(readCompletion(places, ENDED), ENDED);
    const settled = await settle(KILLED, places, door.url);
    assertEquals([settled, readCompletion(places, ENDED)], [{ ...ENDED, delivered: true }, settled]);
    assertEquals(door.arrivals.length, 2);
  }));

Deno.test("settleDelegation: a child SIGKILLed is recorded as crashed by the launcher and told, within a second", () =>
  withRecord(async (places) => {
    await using door = openDoor(doorOf(WAITING));
    const settled = Promise.withResolvers<Completion>();
    await using tree = new WatchedTree({
      ports: { record: async (ending) => settled.resolve(await settle(ending, places, door.url)) },
    });
    const child = tree.spawn(shellLaunch(`echo last words >&2; ${SAY_READY}; sleep 60`));
    await tree.untilReady(child);
    const killedMs = performance.now();
    Deno.kill(child.node().pid, "SIGKILL");
    const completion = await settled.promise;
    assert(performance.now() - killedMs < 1_000);
    const detail = "the session was ended by SIGKILL without a result\nlast words";
    const { duration_ms } = completion;
    const crashed = { ...LAUNCHED, status: "crashed", duration_ms, detail, reported_by: "launcher", delivered: true };
    assertEquals(completion, crashed as Completion);
    assertEquals(readCompletion(places, ENDED), completion);
    const { body } = door.arrivals[0]!;
    assert(JSON.parse(body).params.message.parts[0].text.endsWith(`\nworkdir: /work/w\ndetail: ${detail}`));
    assertEquals(door.arrivals.length, 1);
    await child.ended;
  }));

Deno.test("settleDelegation: what real children come to: terminated is told to nobody, a last frame counts, an exit is a crash", () =>
  withRecord(async (places) => {
    await using door = openDoor(doorOf(WAITING));
    const settled: Completion[] = [];
    await using tree = new WatchedTree({
      ports: { record: async (ending) => void settled.push(await settle(ending, places, door.url)) },
    });
    const failed = say({ type: "failed", error: { code: "model.unreachable", message: "no answer" } });
    for (const script of [sayResult(), sayResult("", "refused"), failed, "exit 3"]) {
      await tree.spawn(shellLaunch(`${SAY_READY}; ${script}`)).ended;
      Deno.removeSync(places.completion);
    }
    assertEquals(door.arrivals.length, 4);
    const child = tree.spawn(shellLaunch(`${SAY_READY}; sleep 60`));
    await tree.untilReady(child);
    child.cancel({ status: "cancelled", ended_by: "terminated", detail: ENDED_BY_PARENT });
    await child.ended;
    assertEquals(settled.map(({ status, detail, delivered }) => [status, detail, delivered]), [
      ["ok", undefined, true],
      ["error", undefined, true],
      ["error", undefined, true],
      ["crashed", "the session exited with code 3 without a result", true],
      ["terminated", ENDED_BY_PARENT, false],
    ]);
    assertEquals([door.arrivals.length, readCompletion(places, ENDED)], [4, settled.at(-1)]);
  }));
