import { assert, assertEquals, assertRejects } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { type Completion, readCompletion } from "../records/mod.ts";
import { decideCompletion, type EndingSources } from "./decide_completion.ts";
import { closedPort, doorOf, openDoor } from "./door_fixture.ts";
import { reportCompletion, watcherDuty } from "./report_completion.ts";
import { ENDED, spawnerOf } from "./report_fixture.ts";

const WAITING = { sessionId: "ses_1", isWaiting: (id: string) => id === ENDED.delegation_id };
const CRASHED: Completion = { ...ENDED, status: "crashed", detail: "exited with code 3", reported_by: "launcher" };
const KILLED: EndingSources["ending"] = {
  status: "crashed",
  ended_by: "crashed",
  detail: "the session was ended by SIGKILL without a result",
  tail: "",
  duration_ms: 42,
};

async function withRecord(run: (places: { completion: string }) => Promise<void>): Promise<void> {
  const folder = Deno.makeTempDirSync();
  try {
    await run({ completion: `${folder}/completion.json` });
    assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name), ["completion.json"]);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

/** Reports, and gives what is said aloud beside what is recorded. */
async function report(ending: Completion, places: { completion: string }, url?: string) {
  const lines: string[] = [];
  const reported = await reportCompletion(ending, {
    places,
    spawner: spawnerOf(url),
    warn: (line) => lines.push(line),
  });
  assertEquals(readCompletion(places, ending), reported);
  return { reported, lines };
}

Deno.test("reportCompletion: recorded before the post and again after it, each as it stands then", () =>
  withRecord(async (places) => {
    let before: Completion | undefined;
    const answer = doorOf(WAITING);
    await using door = openDoor((arrival) => {
      before = readCompletion(places, ENDED);
      return answer(arrival);
    });
    const { reported, lines } = await report(ENDED, places, door.url);
    assertEquals([before, reported, lines], [ENDED, { ...ENDED, delivered: true }, []]);
    assertEquals(door.arrivals.length, 1);
  }));

Deno.test("reportCompletion: a notice that is refused or finds nobody is recorded with its reason, and one line is said", () =>
  withRecord(async (places) => {
    await using door = openDoor(doorOf({ ...WAITING, isWaiting: () => false }));
    const why = `no task in this session is waiting for delegation ${ENDED.delegation_id}`;
    const refused = await report(ENDED, places, door.url);
    assertEquals(refused.reported, { ...ENDED, delivery_error: why });
    assertEquals(refused.lines, [`Report ${ENDED.delegation_id}: not delivered, and recorded: ${why}`]);
    const port = closedPort();
    const lost = await report(ENDED, places, `http://127.0.0.1:${port}/`);
    assertEquals(lost.reported, { ...ENDED, delivery_error: `nothing listens at 127.0.0.1:${port}` });
    assertEquals(lost.lines.length, 1);
  }));

Deno.test("reportCompletion: a parent restarted on the same port refuses, which is recorded", () =>
  withRecord(async (places) => {
    let port: number;
    {
      await using before = openDoor(doorOf(WAITING));
      port = before.port;
    }
    await using restarted = openDoor(doorOf({ sessionId: "ses_9", isWaiting: () => true }), port);
    const { reported } = await report(ENDED, places, restarted.url);
    assertEquals(reported.delivery_error, "this completion is addressed to another session");
  }));

Deno.test("reportCompletion: terminated is recorded and posted to nobody, and so is what has no address", () =>
  withRecord(async (places) => {
    await using door = openDoor(doorOf(WAITING));
    const terminated: Completion = { ...CRASHED, status: "terminated", detail: "the parent ended this delegation" };
    assertEquals(await report(terminated, places, door.url), { reported: terminated, lines: [] });
    assertEquals(await report(ENDED, places), { reported: ENDED, lines: [] });
    assertEquals(door.arrivals.length, 0);
    assertEquals((await report(CRASHED, places, door.url)).reported, { ...CRASHED, delivered: true });
    assertEquals(door.arrivals.length, 1);
  }));

Deno.test("reportCompletion: what cannot be recorded is not posted", async () => {
  await using door = openDoor(doorOf(WAITING));
  const places = { completion: "/nonexistent/completion.json" };
  const error = await assertRejects(
    () => reportCompletion(ENDED, { places, spawner: spawnerOf(door.url), warn: () => {} }),
    CapsuleError,
  );
  assertEquals([error.code, door.arrivals.length], ["home.unwritable", 0]);
});

Deno.test("watcherDuty: never twice what was delivered, once more what was not, and whatever was not said", () => {
  const [delivered, undelivered] = [{ ...ENDED, delivered: true }, ENDED];
  const terminated: Completion = { ...CRASHED, status: "terminated" };
  const duty = (decided: Completion, record: Completion | undefined, url?: string) =>
    watcherDuty(decided, { ...(record === undefined ? {} : { record }), spawner: spawnerOf(url) });
  const url = "http://127.0.0.1:1/";
  assertEquals(duty(delivered, delivered, url), "nothing");
  assertEquals(duty(undelivered, undelivered, url), "report");
  assertEquals(duty(CRASHED, undefined, url), "report");
  assertEquals(duty({ ...ENDED, reported_by: "launcher" }, undefined, url), "report");
  assertEquals(duty(terminated, undefined, url), "record");
  assertEquals(duty(terminated, delivered, url), "record");
  assertEquals(duty(undelivered, undelivered), "nothing");
  assertEquals(duty(CRASHED, undefined), "record");
});

Deno.test("a child killed between its record and its post: the ending is there, and the watcher retries once", () =>
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
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--no-check",
        "--frozen",
        import.meta.resolve("./report_fixture.ts"),
        places.completion,
        door.url,
      ],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    await door.arrived;
    child.kill("SIGKILL");
    await child.status;
    letGo();
    const record = readCompletion(places, ENDED);
    assertEquals(record, ENDED);
    const decided = decideCompletion(ENDED, { ending: KILLED, record: record! });
    assertEquals([decided, watcherDuty(decided, { record: record!, spawner: spawnerOf(door.url) })], [
      ENDED,
      "report",
    ]);
    const { reported } = await report(decided, places, door.url);
    assertEquals(reported, { ...ENDED, delivered: true });
    assertEquals(watcherDuty(reported, { record: reported, spawner: spawnerOf(door.url) }), "nothing");
    assert(door.arrivals.length === 2);
  }));
