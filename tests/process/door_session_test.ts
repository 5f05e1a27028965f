import { assertEquals, assertStringIncludes } from "@std/assert";
import { forExecutable } from "../harness.ts";
import { assertNothingLeft } from "./leftovers.ts";
import { DOOR, readTrace, startSession } from "./running_session.ts";

/** Sends a text and gives what comes back. */
async function send(url: string, text: string, client: Deno.HttpClient): Promise<string> {
  const message = { messageId: `m-${Math.random()}`, role: "ROLE_USER", parts: [{ text }] };
  const response = await fetch(url, {
    client,
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } }),
  });
  return await response.text();
}

forExecutable(
  "session: with a door it is ready without a turn, says where it is open, and tells of each turn; a cancel is its clean end",
  async (bed) => {
    await using started = await startSession(bed, "cat", { task: { warm: true, door: DOOR } });
    const { session, prepared } = started;
    const opened = await session.waitFor("door.open");
    const { url } = opened["fields"] as { url: string };
    assertEquals(session.frames.map(({ type, event }) => event ?? type), ["child.up", "ready", "door.open"]);
    {
      using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
      await session.send({ type: "inject", message: "nobody's task" });
      assertStringIncludes(await send(url, "one", client), '"text":"one"');
      assertStringIncludes(await send(url, "two", client), '"text":"two"');
    }
    await session.send({ type: "ping", seq: 7 });
    await session.waitFor("pong");
    await session.send({ type: "cancel", reason: "closed" });
    const result = await session.result();
    assertEquals(result.frames.map(({ type, event }) => event ?? type).slice(3), [
      ...["turn.start", "turn", "turn.start", "turn", "pong", "session.ended", "usage", "result"],
    ]);
    const turns = result.frames.filter(({ type }) => type === "turn").map(({ outcome }) => outcome);
    assertEquals(
      turns,
      ["one", "two"].map((text) => {
        return { status: "completed", partial: false, result: text, scheduled: [], subscriptions: [] };
      }),
    );
    assertEquals([result.code, result.outcome?.["status"]], [0, "completed"]);
    assertStringIncludes(result.stderr, "Dropped a message inject");
    const [end] = readTrace(prepared).slice(-1);
    assertEquals([end!["status"], end!["detail"]], ["completed", "2 tasks, 0 of them not completed"]);
  },
);

forExecutable("session: with a door it ends with its supervisor, in the middle of a turn too", async (bed) => {
  await using started = await startSession(bed, "loop", { task: { warm: true, door: DOOR } });
  const { session } = started;
  const { url } = (await session.waitFor("door.open"))["fields"] as { url: string };
  using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  const asked = send(url, "", client).catch(() => "");
  await session.waitFor("turn.start");
  await session.closeStdin();
  const { code } = await session.result();
  await asked;
  assertEquals(code, 0);
  started.prepared[Symbol.dispose]();
  assertNothingLeft(bed);
});
