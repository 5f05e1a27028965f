import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { type Clock, SYSTEM_CLOCK } from "../../src/door/mod.ts";
import { ManualClock } from "./manual_clock.ts";
import { HeldWork, OWNER, runDoor, SHOUT } from "./running_door.ts";
import { ask, call, callHeaders, message, openStream, type WireEvent } from "./wire_client.ts";

/** What an event says, in a word. */
function wordOf({ type, data }: WireEvent): string {
  if (type !== "message") return type;
  const { task, statusUpdate, artifactUpdate } = data.result;
  if (task !== undefined) return `task ${task.status.state}${task.metadata?.["boll/gap"] === undefined ? "" : " gap"}`;
  if (statusUpdate !== undefined) return statusUpdate.status.state;
  const { artifact, append = false, lastChunk = false } = artifactUpdate;
  return `${artifact.name}${append ? "+" : ""}${lastChunk ? "." : ""} ${artifact.parts[0].text}`;
}

async function collect(events: AsyncIterable<WireEvent>): Promise<WireEvent[]> {
  return await Array.fromAsync(events);
}

Deno.test("the card: names both bindings of this address and its token, says what it can, and is not sent twice", async () => {
  await using running = await runDoor({ work: SHOUT });
  const { port, url } = running;
  const reply = await ask(port, { method: "GET", path: "/.well-known/agent-card.json" });
  assertEquals([reply.status, reply.headers.get("content-type")], [200, "application/json"]);
  const card = JSON.parse(reply.body);
  assertEquals(card.supportedInterfaces, [
    { url, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
    { url: `${url}v1`, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
  ]);
  assertEquals([card.name, card.version, card.capabilities.streaming, card.capabilities.pushNotifications], [
    ...["tested", "1.2.3"],
    ...[true, false],
  ]);
  assertEquals(card.securitySchemes.boll_token.httpAuthSecurityScheme.scheme, "Bearer");
  const again = await ask(port, {
    method: "GET",
    path: "/.well-known/agent-card.json",
    headers: { "if-none-match": reply.headers.get("etag")! },
  });
  assertEquals([again.status, again.body], [304, ""]);
});

Deno.test("SendMessage: waits for the end and gives the task whole; at once when told so", async () => {
  await using running = await runDoor({ work: SHOUT });
  const { port } = running;
  const { result: { task }, id } = await call(port, "SendMessage", message("hello"));
  assertEquals([id, task.status.state], [7, "TASK_STATE_COMPLETED"]);
  assertMatch(task.id, /^tsk_[0-9a-f]{32}$/);
  assertMatch(task.contextId, /^ctx_[0-9a-f]{32}$/);
  assertEquals(task.artifacts[0].parts[0].text, "HELLO");
  assertEquals(task.history[0].parts[0].text, "hello");
  const early = await call(port, "SendMessage", { ...message("x"), configuration: { returnImmediately: true } });
  assertEquals(early.result.task.status.state, "TASK_STATE_SUBMITTED");
  const none = await call(port, "SendMessage", { ...message("x"), configuration: { historyLength: 0 } });
  assertEquals(none.result.task.history, undefined);
});

Deno.test("a stream: the task, its states, its answer piece by piece before the end, and nothing after it", async () => {
  const work = new HeldWork();
  await using running = await runDoor({ work });
  using stream = await openStream(running.port, "SendStreamingMessage", message("go"));
  const { status, headers } = await stream.head();
  assertEquals([status, headers.get("content-type")], [200, "text/event-stream"]);
  const { voice, end } = await work.next();
  voice.output("one ");
  voice.artifact({ name: "table.csv", mediaType: "text/csv", bytes: new TextEncoder().encode("a,b") });
  end({ state: "completed", answer: "one two" });
  const events = await collect(stream.events());
  assertEquals(events.map(wordOf), [
    "task TASK_STATE_SUBMITTED",
    "TASK_STATE_WORKING",
    "answer one ",
    "table.csv. undefined",
    "answer+. two",
    "TASK_STATE_COMPLETED",
  ]);
  assertEquals(events.map(({ id }) => id!.split("-")[1]), ["1", "2", "3", "4", "5", "6"]);
  assert(events.every(({ data }) => data.jsonrpc === "2.0" && data.id === 7));
  const { result } = await call(running.port, "GetTask", { id: events[0]!.data.result.task.id });
  assertEquals(result.artifacts.map(({ name }: { name: string }) => name), ["answer", "table.csv"]);
  assertEquals(result.artifacts[0].parts[0].text, "one two");
});

Deno.test("Last-Event-ID: what was missed while the task runs and after its end; a foreign or evicted place is one gap", async () => {
  const work = new HeldWork();
  await using running = await runDoor({ work, limits: { replayEvents: 3 } });
  const { port } = running;
  const sent = await call(port, "SendMessage", { ...message("go"), configuration: { returnImmediately: true } });
  const id = sent.result.task.id;
  const { voice, end } = await work.next();
  using first = await openStream(port, "SubscribeToTask", { id });
  await first.head();
  const reading = first.events();
  const snapshot = (await reading.next()).value;
  assertEquals(wordOf(snapshot), "task TASK_STATE_WORKING");
  voice.working("half way");
  const heard = (await reading.next()).value;
  assertEquals(wordOf(heard), "TASK_STATE_WORKING");
  voice.working("more");
  using second = await openStream(port, "SubscribeToTask", { id }, { "last-event-id": heard.id });
  await second.head();
  const missed = second.events();
  assertEquals((await missed.next()).value.data.result.statusUpdate.status.message.parts[0].text, "more");
  end({ state: "completed", answer: "done" });
  assertEquals((await collect(missed)).map(wordOf), ["answer. done", "TASK_STATE_COMPLETED"]);
  // After the end: as far as it is kept.
  using third = await openStream(port, "SubscribeToTask", { id }, { "last-event-id": heard.id });
  await third.head();
  assertEquals((await collect(third.events())).map(wordOf), [
    "TASK_STATE_WORKING",
    "answer. done",
    "TASK_STATE_COMPLETED",
  ]);
  for (const place of [snapshot.id, "00000000-1", "nonsense"]) {
    using fourth = await openStream(port, "SubscribeToTask", { id }, { "last-event-id": place });
    await fourth.head();
    const events = await collect(fourth.events());
    assertEquals(events.map(wordOf), ["task TASK_STATE_COMPLETED gap"]);
    const { task } = events[0]!.data.result;
    assertEquals([task.metadata["boll/gap"], task.artifacts[0].parts[0].text], [{ after: place }, "done"]);
  }
  // Who heard nothing of it is told by GetTask, as the protocol says.
  assertEquals((await call(port, "SubscribeToTask", { id })).error.code, -32004);
});

Deno.test("what is large comes in events that a client takes: an answer and a file in pieces, a long message not at all", async () => {
  const work = new HeldWork();
  await using running = await runDoor({ work });
  const { port } = running;
  using stream = await openStream(port, "SendStreamingMessage", message("m".repeat(5_000_000)));
  await stream.head();
  const { task, voice, end } = await work.next();
  assertEquals(task.text.length, 5_000_000);
  const file = crypto.getRandomValues(new Uint8Array(65_536)).toBase64().repeat(60);
  const bytes = new TextEncoder().encode(file);
  voice.artifact({ name: "large.bin", mediaType: "application/octet-stream", bytes });
  const answer = `${"😀".repeat(400_000)}end`;
  using late = await openStream(port, "SubscribeToTask", { id: task.id });
  await late.head();
  end({ state: "completed", answer });
  for (const reader of [stream, late]) {
    const events = await collect(reader.events());
    assert(events.every(({ data }) => JSON.stringify(data).length < 4 * 1024 * 1024));
    const parts = (name: string) =>
      events.flatMap(({ data }) =>
        data.result.artifactUpdate?.artifact.name === name ? [data.result.artifactUpdate] : []
      );
    assertEquals(parts("answer").map(({ artifact }) => artifact.parts[0].text).join(""), answer);
    const pieces = parts("large.bin");
    assertEquals([pieces[0].append ?? false, pieces.at(-1).append, pieces.at(-1).lastChunk], [false, true, true]);
    assertEquals(pieces.map(({ artifact }) => atob(artifact.parts[0].raw)).join(""), file);
    assertEquals(events.at(-1)!.data.result.statusUpdate.status.state, "TASK_STATE_COMPLETED");
  }
  const { result } = await call(port, "GetTask", { id: task.id });
  assertEquals(result.artifacts.map(({ parts }: { parts: unknown[] }) => parts.length), [1, 1]);
});

Deno.test("a heartbeat comes after 15 s of silence, and none while events come", async () => {
  const work = new HeldWork();
  const clock = new ManualClock();
  await using running = await runDoor({ work, clock });
  using stream = await openStream(running.port, "SendStreamingMessage", message("go"));
  await stream.head();
  const { voice, end } = await work.next();
  const reading = stream.events();
  await reading.next();
  await reading.next();
  for (let beat = 0; beat < 3; beat++) {
    await clock.isAwaited(15_000);
    clock.advance(15_000);
    assertEquals(wordOf((await reading.next()).value), "comment");
  }
  await clock.isAwaited(15_000);
  clock.advance(14_999);
  voice.working();
  assertEquals(wordOf((await reading.next()).value), "TASK_STATE_WORKING");
  await clock.isAwaited(15_000);
  clock.advance(14_999);
  end({ state: "completed" });
  assertEquals((await collect(reading)).map(wordOf), ["TASK_STATE_COMPLETED"]);
});

Deno.test("a reader that takes nothing is told that it is behind and dropped; the work and the other readers go on", async () => {
  await using stalled = await stallReader();
  const { port, taskId, slow, end, reading } = stalled;
  end({ state: "completed", answer: "done" });
  assertEquals((await collect(reading)).map(wordOf), ["answer. done", "TASK_STATE_COMPLETED"]);
  const told = await collect(slow.events());
  const last = told.pop()!;
  assertEquals([last.type, last.data.error.code], ["error", -31003]);
  await goesOnFrom(told.at(-1)!, port, taskId);
});

Deno.test("a reader that takes no byte for 30 s is cut off within an event, never as at an end; it goes on from the last it has", async () => {
  const clock = new ManualClock();
  await using stalled = await stallReader(clock);
  const { running, port, taskId, slow, end } = stalled;
  const requests = async () => {
    const { body } = await ask(port, { method: "GET", path: "/metrics", headers: callHeaders(OWNER) });
    return Number(/^boll_door_requests (\d+)$/m.exec(body)?.[1]);
  };
  clock.advance(29_999);
  assertEquals(await requests(), 2);
  clock.advance(1);
  assertEquals(await requests(), 1);
  end({ state: "completed" });
  const told: WireEvent[] = [];
  await assertRejects(
    async () => {
      for await (const event of slow.events()) told.push(event);
    },
    Error,
    "the connection ended",
  );
  assertEquals(running.events.filter(({ event }) => event === "readers_dropped").length, 1);
  await goesOnFrom(told.at(-1)!, port, taskId);
});

Deno.test("drain: a reader that takes nothing holds nobody up", async () => {
  await using stalled = await stallReader();
  stalled.end({ state: "completed" });
  await stalled.running.door.drain(100);
});

/** A task with a reader that has taken nothing for too long, and one that takes everything. */
async function stallReader(clock: Clock = SYSTEM_CLOCK) {
  const work = new HeldWork();
  const running = await runDoor({ work, clock });
  const { port, events } = running;
  const slow = await openStream(port, "SendStreamingMessage", message("go"));
  await slow.head();
  const { task, voice, end } = await work.next();
  const quick = await openStream(port, "SubscribeToTask", { id: task.id });
  await quick.head();
  const reading = quick.events();
  await reading.next();
  const filler = "x".repeat(64 * 1024);
  for (let count = 0; !events.some(({ event }) => event === "readers_dropped"); count++) {
    voice.working(`${count} ${filler}`);
    const { status } = (await reading.next()).value.data.result.statusUpdate;
    assertStringIncludes(status.message.parts[0].text, `${count} `);
  }
  return {
    ...{ running, port, taskId: task.id, slow, end, reading },
    async [Symbol.asyncDispose]() {
      for (const connection of [slow, quick]) connection[Symbol.dispose]();
      await running[Symbol.asyncDispose]();
    },
  };
}

/** It comes back for the rest, and misses nothing. */
async function goesOnFrom(heard: WireEvent, port: number, taskId: string): Promise<void> {
  using back = await openStream(port, "SubscribeToTask", { id: taskId }, { "last-event-id": heard.id! });
  await back.head();
  const rest = await collect(back.events());
  assertEquals(wordOf(rest.at(-1)!), "TASK_STATE_COMPLETED");
  assertEquals(Number(rest[0]!.id!.split("-")[1]), Number(heard.id!.split("-")[1]) + 1);
}

Deno.test("a question is in the status and ends stream and call; the next message for the task answers it", async () => {
  const work = new HeldWork();
  await using running = await runDoor({ work });
  const { port, events } = running;
  using stream = await openStream(port, "SendStreamingMessage", message("go"));
  await stream.head();
  const { task, voice, end } = await work.next();
  const answer = voice.ask("Which colour?", 60_000);
  const told = await collect(stream.events());
  assertEquals(told.map(wordOf).at(-1), "TASK_STATE_INPUT_REQUIRED");
  assertEquals(told.at(-1)!.data.result.statusUpdate.status.message.parts[0].text, "Which colour?");
  const wrong = await call(port, "SendMessage", message("red", { taskId: task.id, contextId: "ctx_other" }));
  assertEquals([wrong.error.code, wrong.error.message.includes("contextId")], [-32602, true]);
  const sending = call(port, "SendMessage", message("red", { taskId: task.id }));
  assertEquals(await answer, { text: "red", files: [], origin: "user" });
  end({ state: "completed", answer: "painted" });
  const { result } = await sending;
  assertEquals(result.task.status.state, "TASK_STATE_COMPLETED");
  assertEquals(result.task.history.map(({ parts }: { parts: { text: string }[] }) => parts[0]!.text), [
    ...["go", "Which colour?", "red"],
  ]);
  assertEquals((await call(port, "SendMessage", message("late", { taskId: task.id }))).error.code, -32004);
  assertEquals(events.filter(({ event }) => event.startsWith("gate")).map((event) => "how" in event ? event.how : ""), [
    ...["", "answered"],
  ]);
});

Deno.test("an answer may be less trusted than its task, and never more", async () => {
  const work = new HeldWork();
  await using running = await runDoor({ work });
  const { port } = running;
  const answerAs = async (asker: string, token: string, claimed: string) => {
    const sending = call(port, "SendMessage", message("go"), { token: asker });
    const { task, voice, end } = await work.next();
    const answer = voice.ask("Which?", 60_000);
    await sending;
    const said = message("this", { taskId: task.id });
    const answered = call(port, "SendMessage", said, { token, headers: { "x-boll-task-origin": claimed } });
    const { origin } = await answer;
    end({ state: "completed" });
    await answered;
    return [task.origin, origin];
  };
  assertEquals(await answerAs("owner-token", "owner-token", "user"), ["user", "user"]);
  assertEquals(await answerAs("owner-token", "owner-token", "peer"), ["user", "peer"]);
  assertEquals(await answerAs("ada-token", "ada-token", "user"), ["peer", "peer"]);
});

Deno.test("a question that nobody answers in time fails its task with that reason", async () => {
  const clock = new ManualClock();
  const work = new HeldWork();
  await using running = await runDoor({ work, clock });
  const sending = call(running.port, "SendMessage", message("go"));
  const { task, voice, fail } = await work.next();
  const asking = voice.ask("Well?", 5_000).catch(fail);
  assertEquals((await sending).result.task.status.state, "TASK_STATE_INPUT_REQUIRED");
  clock.advance(5_000);
  await asking;
  let found;
  do found = (await call(running.port, "GetTask", { id: task.id })).result; while (
    found.status.state === "TASK_STATE_INPUT_REQUIRED"
  );
  assertEquals([found.status.state, found.status.message.parts[0].text], [
    "TASK_STATE_FAILED",
    "nobody answered within 5000 ms",
  ]);
});

Deno.test("HTTP+JSON: the same operations by path, errors as statuses with their reason", async () => {
  await using running = await runDoor({ work: SHOUT });
  const { port } = running;
  const headers = callHeaders("owner-token");
  const rest = async (method: string, path: string, body?: unknown) => {
    const reply = await ask(port, {
      method,
      path: `/v1${path}`,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: reply.status, body: JSON.parse(reply.body) };
  };
  const sent = await rest("POST", "/message:send", message("hi"));
  assertEquals([sent.status, sent.body.task.artifacts[0].parts[0].text], [200, "HI"]);
  const { id, contextId } = sent.body.task;
  assertEquals((await rest("GET", `/tasks/${id}`)).body.id, id);
  assertEquals((await rest("GET", `/tasks/${id}?historyLength=0`)).body.history, undefined);
  const listed = await rest("GET", `/tasks?contextId=${contextId}&pageSize=1&includeArtifacts=true`);
  assertEquals([listed.body.tasks.length, listed.body.totalSize, listed.body.nextPageToken], [1, 1, ""]);
  assertEquals(listed.body.tasks[0].artifacts[0].parts[0].text, "HI");
  const missing = await rest("GET", "/tasks/tsk_none");
  assertEquals([missing.status, missing.body.error.status, missing.body.error.details[0].reason], [
    404,
    "NOT_FOUND",
    "TASK_NOT_FOUND",
  ]);
  assertEquals((await rest("POST", `/tasks/${id}:cancel`)).status, 409);
  assertEquals((await rest("POST", `/tasks/${id}:subscribe`)).status, 400);
  assertEquals((await rest("GET", "/tasks?pageSize=0")).body.error.message.includes("pageSize"), true);
  assertEquals((await rest("GET", "/extendedAgentCard")).status, 400);
  assertEquals(
    (await rest("POST", `/tasks/${id}/pushNotificationConfigs`)).body.error.details[0].reason,
    "PUSH_NOTIFICATION_NOT_SUPPORTED",
  );
  assertEquals((await rest("POST", "/message:send", {})).status, 400);
  const typed = await ask(port, {
    path: "/v1/message:send",
    headers: { ...headers, "content-type": "text/plain" },
    body: "x",
  });
  assertEquals(typed.status, 415);
  const stream = await ask(port, { path: "/v1/message:stream", headers, body: JSON.stringify(message("hi")) });
  assertEquals(stream.headers.get("content-type"), "text/event-stream");
  assertStringIncludes(stream.body, 'data: {"task":{"id":"tsk_');
});
