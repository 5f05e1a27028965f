import { assertEquals, assertRejects } from "@std/assert";
import { CapsuleError } from "../../base/mod.ts";
import { type Completion, readCompletion } from "../../records/mod.ts";
import { closedPort, doorOf, openDoor } from "../notice/door_fixture.ts";
import { reportCompletion } from "./report_completion.ts";
import { ENDED, spawnerOf, withRecord } from "./report_fixture.ts";

const WAITING = { sessionId: "ses_1", isWaiting: (id: string) => id === ENDED.delegation_id };
const CRASHED: Completion = { ...ENDED, status: "crashed", detail: "exited with code 3", reported_by: "launcher" };

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
