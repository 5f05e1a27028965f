import { assert, assertEquals, assertRejects } from "@std/assert";
import { CapsuleError, newId } from "../../src/base/mod.ts";
import { noticeRequest, postNotice } from "../../src/delegation/mod.ts";
import { diskTest, SmallDisk } from "../storms/small_disk.ts";
import { ManualClock } from "./manual_clock.ts";
import { HeldWork, OWNER, runDoor, SHOUT } from "./running_door.ts";
import { ask, call, callHeaders, message, openStream } from "./wire_client.ts";

const NOW = { configuration: { returnImmediately: true } };

/** What a task is in, and why. */
function tell({ status }: { status: { state: string; message?: { parts: { text: string }[] } } }): string {
  return [status.state.replace("TASK_STATE_", ""), ...status.message?.parts.map(({ text }) => text) ?? []].join(" ");
}

async function send(port: number, text: string, more: Record<string, unknown> = NOW, headers = {}) {
  return (await call(port, "SendMessage", { ...message(text), ...more }, { headers })).result.task;
}

async function get(port: number, id: string) {
  return (await call(port, "GetTask", { id })).result;
}

/** Asks until the task is as wanted: the door tells nobody that it has put something on its list. */
async function until(port: number, id: string, state: string) {
  for (;;) {
    const task = await get(port, id);
    if (tell(task).startsWith(state)) return task;
  }
}

Deno.test("queue: one at a time in their order, background work behind the others, the one too many is rejected with the reason", async () => {
  const work = new HeldWork();
  await using running = await runDoor({ work, queueDepth: 3 });
  const { port } = running;
  const first = await send(port, "first");
  const held = await work.next();
  await send(port, "background", NOW, { "x-boll-task-origin": "system" });
  await send(port, "second");
  await send(port, "third");
  const refused = await send(port, "fourth");
  assertEquals(tell(refused), "REJECTED 3 tasks wait already");
  assertEquals(tell(await get(port, refused.id)), "REJECTED 3 tasks wait already");
  assertEquals(tell(await get(port, first.id)), "WORKING");
  held.end({ state: "completed" });
  const order: string[] = [];
  for (let count = 0; count < 3; count++) {
    const { task, end } = await work.next();
    order.push(task.text);
    end({ state: "completed" });
  }
  assertEquals(order, ["second", "third", "background"]);
  assertEquals(running.events.filter(({ event }) => event === "task_start").length, 4);
});

Deno.test("queue: a peer that floods the door leaves room for another, and all peers a place for the owner", async () => {
  const work = new HeldWork();
  await using running = await runDoor({ work, queueDepth: 6 });
  const { port } = running;
  const as = (name: string) => ({ authorization: `Bearer ${name}-token` });
  await send(port, "runs", NOW, as("ada"));
  const held = await work.next();
  const told = async (name: string, times: number) => {
    const tasks = [];
    for (let count = 0; count < times; count++) tasks.push(tell(await send(port, "more", NOW, as(name))));
    return tasks;
  };
  assertEquals(await told("ada", 4), [...Array(3).fill("SUBMITTED"), "REJECTED 3 tasks of this sender wait already"]);
  assertEquals(await told("bob", 3), ["SUBMITTED", "SUBMITTED", "REJECTED 5 tasks of peers wait already"]);
  assertEquals(await told("owner", 2), ["SUBMITTED", "REJECTED 6 tasks wait already"]);
  held.end({ state: "completed" });
  const next = await work.next();
  // What began waits no more.
  assertEquals(await told("ada", 2), ["SUBMITTED", "REJECTED 6 tasks wait already"]);
  next.end({ state: "completed" });
});

Deno.test("single: one task, then done; a second one is rejected", async () => {
  const work = new HeldWork();
  await using running = await runDoor({ work, accept: "single", queueDepth: 1 });
  const { port } = running;
  const sent = send(port, "only", {});
  const { end } = await work.next();
  assertEquals(tell(await send(port, "second")), "REJECTED this session takes one task, and has it");
  end({ state: "completed", answer: "x" });
  assertEquals(tell(await sent), "COMPLETED");
  await running.door.done;
});

Deno.test("CancelTask: one that waits never begins, one that runs is told and ends canceled, one that is done says so", async () => {
  const work = new HeldWork();
  const clock = new ManualClock();
  await using running = await runDoor({ work, clock });
  const { port } = running;
  const first = await send(port, "first");
  const held = await work.next();
  const waiting = await send(port, "waiting");
  assertEquals(tell((await call(port, "CancelTask", { id: waiting.id })).result), "CANCELED canceled");
  const cancelling = call(port, "CancelTask", { id: first.id });
  await new Promise<void>((resolve) => held.task.signal.addEventListener("abort", () => resolve()));
  held.end({ state: "failed", reason: "was stopped" });
  assertEquals(tell((await cancelling).result), "CANCELED canceled");
  assertEquals(tell((await call(port, "CancelTask", { id: first.id })).result), "CANCELED canceled");
  // Done in the same moment: it is what it is.
  const second = await send(port, "second");
  const quick = await work.next();
  const late = call(port, "CancelTask", { id: second.id });
  await new Promise<void>((resolve) => quick.task.signal.addEventListener("abort", () => resolve()));
  quick.end({ state: "completed", answer: "done" });
  assertEquals((await late).error.code, -32002);
  // Work that does not end holds up nobody who cancels, and begins nothing else.
  const stubborn = await send(port, "stubborn");
  const deaf = await work.next();
  const next = await send(port, "next");
  const forced = call(port, "CancelTask", { id: stubborn.id });
  await new Promise<void>((resolve) => deaf.task.signal.addEventListener("abort", () => resolve()));
  clock.advance(10_000);
  assertEquals(tell((await forced).result), "CANCELED canceled");
  deaf.voice.output("still here");
  assertEquals(tell(await get(port, next.id)), "SUBMITTED");
  deaf.end({ state: "completed", answer: "too late" });
  (await work.next()).end({ state: "completed" });
  assertEquals(tell(await until(port, next.id, "COMPLETED")), "COMPLETED");
  assertEquals(tell(await get(port, stubborn.id)), "CANCELED canceled");
  const ends = running.events.flatMap((event) => event.event === "task_end" ? [event.task_id] : []);
  assertEquals(new Set(ends).size, ends.length);
});

Deno.test("work that throws has failed, in words that are not its own; a rejection and a reason are told as they are", async () => {
  const work = new HeldWork();
  await using running = await runDoor({ work });
  const { port } = running;
  const [broken, refused] = [send(port, "a", {}), send(port, "b", {})];
  (await work.next()).fail(new Error("secret path /root"));
  assertEquals(tell(await broken), "FAILED a failure of the session's own");
  (await work.next()).end({ state: "rejected", reason: "not mine" });
  assertEquals(tell(await refused), "REJECTED not mine");
});

Deno.test("drain: takes nothing more and is not ready, ends what runs, rejects what waits, and everybody hears of it", async () => {
  const work = new HeldWork();
  const running = await runDoor({ work });
  const { port, door } = running;
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: message("late") });
  const [current, waiting] = [send(port, "current", {}), send(port, "waiting", {})];
  const held = await work.next();
  using stream = await openStream(port, "SubscribeToTask", { id: held.task.id });
  await stream.head();
  const drained = door.drain();
  await new Promise<void>((resolve) =>
    held.task.signal.aborted ? resolve() : held.task.signal.addEventListener("abort", () => resolve())
  );
  assertEquals((await ask(port, { method: "GET", path: "/readyz" })).status, 503);
  assertEquals((await ask(port, { method: "GET", path: "/healthz" })).status, 200);
  const late = await ask(port, { headers: callHeaders(OWNER), body });
  assertEquals([late.status, late.headers.get("retry-after")], [503, "1"]);
  held.end({ state: "canceled" });
  assertEquals(tell(await current), "FAILED interrupted: the session that worked on this task ended");
  assertEquals(tell(await waiting), "REJECTED the session ended before it came to this task");
  const events = await Array.fromAsync(stream.events());
  assertEquals(events.at(-1)!.data.result.statusUpdate.status.state, "TASK_STATE_FAILED");
  await drained;
  await door.done;
  await assertRejects(() => ask(port, { method: "GET", path: "/healthz" }));
});

Deno.test("a folder: tasks outlive the session; what waited is done, what ran has failed as interrupted, ids never repeat", async () => {
  const folder = Deno.makeTempDirSync();
  try {
    const storage = { kind: "folder", path: folder } as const;
    const work = new HeldWork();
    const one = await runDoor({ work, storage });
    const done = send(one.port, "done", {});
    (await work.next()).end({ state: "completed", answer: "kept" });
    const [finished, ran, waited] = [await done, await send(one.port, "ran"), await send(one.port, "waited")];
    await work.next();
    const drained = one.door.drain(0);
    await drained;
    const again = new HeldWork();
    await using two = await runDoor({ work: again, storage });
    assertEquals(tell(await get(two.port, finished.id)), "COMPLETED");
    assertEquals((await get(two.port, finished.id)).artifacts[0].parts[0].text, "kept");
    assertEquals(tell(await get(two.port, ran.id)), "FAILED interrupted: the session that worked on this task ended");
    const { task, end } = await again.next();
    assertEquals([task.id, task.text, task.isRerun, task.origin, task.principal], [
      waited.id,
      "waited",
      false,
      "user",
      "owner",
    ]);
    end({ state: "completed", answer: "now" });
    assertEquals(tell(await until(two.port, waited.id, "COMPLETED")), "COMPLETED");
    const fresh = await send(two.port, "fresh");
    assert(![finished.id, ran.id, waited.id].includes(fresh.id));
    assertEquals((await call(two.port, "ListTasks", { contextId: waited.contextId })).result.totalSize, 1);
    const pages: string[] = [];
    for (let token: string | undefined = ""; token !== undefined;) {
      const { result } = await call(two.port, "ListTasks", { pageSize: 1, pageToken: token });
      pages.push(...result.tasks.map(({ id }: { id: string }) => id));
      token = result.nextPageToken === "" ? undefined : result.nextPageToken;
    }
    assertEquals([pages.length, new Set(pages).size], [4, 4]);
    (await again.next()).end({ state: "completed" });
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("a folder, killed: what ran has failed, and runs again when the capsule may be run twice, and says so", async () => {
  const folder = Deno.makeTempDirSync();
  try {
    const path = `${folder}/live`;
    Deno.mkdirSync(path, { mode: 0o700 });
    const work = new HeldWork();
    await using one = await runDoor({ work, storage: { kind: "folder", path } });
    const ran = await send(one.port, "ran");
    await work.next();
    const asked = await send(one.port, "waits");
    // As a kill leaves it: the files as they are at this moment.
    const copies = ["failed", "rerun"].map((name) => {
      const copy = `${folder}/${name}`;
      Deno.mkdirSync(copy, { mode: 0o700 });
      for (const { name } of Deno.readDirSync(path)) Deno.copyFileSync(`${path}/${name}`, `${copy}/${name}`);
      return { kind: "folder", path: copy } as const;
    });
    const again = new HeldWork();
    await using failed = await runDoor({ work: again, storage: copies[0]! });
    assertEquals(
      tell(await get(failed.port, ran.id)),
      "FAILED interrupted: the session that worked on this task ended",
    );
    assertEquals((await again.next()).task.id, asked.id);
    const twice = new HeldWork();
    await using rerun = await runDoor({ work: twice, storage: copies[1]!, isIdempotent: true });
    const { task, end } = await twice.next();
    assertEquals([task.id, task.isRerun], [ran.id, true]);
    assert(rerun.events.some((event) => event.event === "task_start" && event.is_rerun && event.task_id === ran.id));
    end({ state: "completed", answer: "second time" });
    const next = await twice.next();
    assertEquals([next.task.id, next.task.isRerun], [asked.id, false]);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("a folder is opened only when it is this user's alone and holds no link; by one session; and only what this program wrote", async () => {
  const root = Deno.makeTempDirSync();
  const refuse = async (path: string, code: string) => {
    const error = await assertRejects(() => runDoor({ work: SHOUT, storage: { kind: "folder", path } }), CapsuleError);
    assertEquals(error.code, code, path);
    assert(!Deno.readTextFileSync(`${root}/victim`).includes("SQLite"));
  };
  const fresh = (name: string) => {
    Deno.mkdirSync(`${root}/${name}`, { mode: 0o700 });
    return `${root}/${name}`;
  };
  try {
    Deno.writeTextFileSync(`${root}/victim`, "");
    await refuse(`${root}/missing`, "door.store_unsafe");
    const open = fresh("open");
    Deno.chmodSync(open, 0o755);
    await refuse(open, "door.store_unsafe");
    Deno.symlinkSync(fresh("real"), `${root}/linked`);
    await refuse(`${root}/linked`, "door.store_unsafe");
    const planted = fresh("planted");
    Deno.symlinkSync(`${root}/victim`, `${planted}/tasks.sqlite`);
    await refuse(planted, "door.store_unsafe");
    const wal = fresh("wal");
    Deno.symlinkSync(`${root}/victim`, `${wal}/tasks.sqlite-wal`);
    await refuse(wal, "door.store_unsafe");
    const garbage = fresh("garbage");
    Deno.writeTextFileSync(
      `${garbage}/tasks.sqlite`,
      "this is no database, and long enough to be seen as none".repeat(100),
    );
    await refuse(garbage, "door.store_unreadable");
    const taken = fresh("taken");
    await using _ = await runDoor({ work: SHOUT, storage: { kind: "folder", path: taken } });
    const second = await assertRejects(
      () => runDoor({ work: SHOUT, storage: { kind: "folder", path: taken } }),
      CapsuleError,
    );
    assert(second.message.includes("another session has them open"), second.message);
    assertEquals(Deno.statSync(`${taken}/tasks.sqlite`).mode! & 0o777, 0o600);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});

diskTest(
  "a disk that is full: no message is taken, what runs is told as failed, and the next session says the same",
  async () => {
    const root = Deno.makeTempDirSync();
    try {
      using disk = new SmallDisk(`${root}/disk`);
      const path = `${disk.path}/tasks`;
      Deno.mkdirSync(path, { mode: 0o700 });
      const storage = { kind: "folder", path } as const;
      const work = new HeldWork();
      const running = await runDoor({ work, storage });
      const { port } = running;
      const sent = send(port, "first", {});
      const held = await work.next();
      disk.leave({ blocks: 0 });
      held.end({ state: "completed", answer: "x".repeat(200_000) });
      const task = await sent;
      assertEquals(tell(task), "FAILED this task could not be recorded");
      assertEquals((await ask(port, { method: "GET", path: "/readyz" })).status, 503);
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: message("second") });
      assertEquals((await ask(port, { headers: callHeaders(OWNER), body })).status, 503);
      await running.door.drain();
      disk.leave({});
      await using next = await runDoor({ work, storage });
      assertEquals(
        tell(await get(next.port, task.id)),
        "FAILED interrupted: the session that worked on this task ended",
      );
      assertEquals((await call(next.port, "ListTasks", {})).result.totalSize, 1);
    } finally {
      Deno.removeSync(root, { recursive: true });
    }
  },
);

Deno.test("a completion needs no token and changes nothing but a look: forged, repeated, foreign, early and large ones too", async () => {
  const waiting = new Set(["dlg_01890000000070008000000000000001"]);
  const heard: string[] = [];
  const completions = {
    sessionId: "ses_mine",
    isWaiting: (id: string) => waiting.has(id),
    onCompletion: (id: string) => heard.push(id),
  };
  await using running = await runDoor({ work: SHOUT, completions });
  const { port, events } = running;
  const notice = {
    "x-boll-task-origin": "completion",
    "x-boll-delegation-id": [...waiting][0]!,
    "x-boll-completion-session": "ses_mine",
    "a2a-version": "1.0",
  };
  const post = async (
    headers: Record<string, string>,
    body = JSON.stringify({ jsonrpc: "2.0", id: "req_1", method: "SendMessage", params: {} }),
  ) => {
    const reply = await ask(port, { headers: { ...notice, ...headers }, body });
    return [reply.status, reply.body.startsWith('{"error"') ? undefined : JSON.parse(reply.body)] as const;
  };
  const [status, good] = await post({});
  assertEquals([status, good.id, good.error, heard.length], [200, "req_1", undefined, 1]);
  assertEquals((await post({}))[1].error, undefined);
  const foreign = await post({ "x-boll-completion-session": "ses_other" });
  assertEquals(foreign[1].error, { code: -31002, message: "this completion is addressed to another session" });
  const forged = "dlg_01890000000070008000000000000002";
  assertEquals((await post({ "x-boll-delegation-id": forged }))[1].error, {
    code: -31002,
    message: `no task in this session is waiting for delegation ${forged}`,
  });
  for (const id of ["", "../../etc", "dlg_1", "x".repeat(5_000)]) {
    const { code, message } = (await post({ "x-boll-delegation-id": id }))[1].error;
    assertEquals([code, message], [-31002, "no task in this session is waiting for delegation (not an id)"]);
  }
  assertEquals((await post({}, "not json"))[0], 200);
  assertEquals((await post({}, "x".repeat(64 * 1024)))[0], 200);
  assertEquals((await post({}, "x".repeat(64 * 1024 + 1)))[0], 413);
  assertEquals((await post({ host: "evil.example" }))[0], 421);
  assertEquals((await post({ origin: "https://evil.example" }))[0], 403);
  waiting.clear();
  assertEquals((await post({}))[1].error.code, -31002);
  for (let count = 0; count < 100; count++) await post({});
  assertEquals(events.filter((event) => event.event === "completion" && event.refused !== undefined).length, 64);
  assertEquals(new Set(heard).size, 1);
  assertEquals(events.filter(({ event }) => event === "task_start").length, 0);
  assertEquals((await call(port, "ListTasks", {})).result.totalSize, 0);
  // A session that waits for none refuses all.
  await using other = await runDoor({ work: SHOUT });
  const reply = await ask(other.port, { headers: notice, body: "{}" });
  assertEquals(JSON.parse(reply.body).error.code, -31002);
});

Deno.test("the notice of a child that ended is delivered at its parent's door, and told why when it is not", async () => {
  const delegation_id = newId("dlg");
  const heard: string[] = [];
  const completions = {
    sessionId: "ses_mine",
    isWaiting: (id: string) => id === delegation_id,
    onCompletion: (id: string) => heard.push(id),
  };
  await using running = await runDoor({ work: SHOUT, completions });
  const fields = {
    delegation_id,
    capsule_name: "local/worker",
    capsule_version: "1.0.0",
    session_id: "ses_child",
    status: "ok",
  } as const;
  const address = { session_id: "ses_mine", context_id: "ctx_1", delegation_id, url: running.url };
  assertEquals(await postNotice(running.url, noticeRequest(fields, address)), { delivered: true });
  assertEquals(heard, [delegation_id]);
  assertEquals(await postNotice(running.url, noticeRequest(fields, { ...address, session_id: "ses_other" })), {
    delivered: false,
    error: "this completion is addressed to another session",
  });
});

Deno.test("/healthz, /readyz and /metrics: alive while it ticks, ready while it takes work, labels of few words", async () => {
  const clock = new ManualClock();
  let unready: string | undefined;
  await using running = await runDoor({
    work: SHOUT,
    clock,
    unready: () => unready,
    gauges: () => ({ boll_session_turns: 3 }),
  });
  const { port } = running;
  const status = async (path: string) => (await ask(port, { method: "GET", path })).status;
  assertEquals([await status("/healthz"), await status("/readyz")], [200, 200]);
  unready = "its tokens are spent";
  assertEquals([await status("/healthz"), await status("/readyz")], [200, 503]);
  const why = (await ask(port, { method: "GET", path: "/readyz" })).body;
  assertEquals(JSON.parse(why), { status: "unavailable", reason: "its tokens are spent" });
  unready = undefined;
  const { task: { id } } = (await call(port, "SendMessage", message("secret text"))).result;
  await call(port, "SendMessage", message("x"), { token: "ada-token" });
  for (const path of ["/a", "/b", "/c?x=1"]) await ask(port, { method: "GET", path });
  const { body } = await ask(port, { method: "GET", path: "/metrics", headers: callHeaders(OWNER) });
  for (const hidden of [id, "secret", "ada", "owner", "ctx_", "/a"]) assert(!body.includes(hidden), hidden);
  assert(body.includes('boll_door_tasks_total{state="completed"} 2\n'), body);
  assert(body.includes('boll_door_requests_total{route="other",code="4xx"} 3\n'), body);
  assert(body.includes("boll_session_turns 3\n"));
  for (const line of body.trim().split("\n")) {
    assert(
      /^(# TYPE [a-z_]+ (counter|gauge)|[a-z_]+(\{[a-z]+="[a-z0-9_]+"(,[a-z]+="[a-z0-9_]+")?\})? \d+)$/.test(line),
      line,
    );
  }
});

Deno.test("a port that is taken is said, and leaves the tasks of the folder as they are", async () => {
  const folder = Deno.makeTempDirSync();
  try {
    await using running = await runDoor({ work: SHOUT });
    const error = await assertRejects(
      () =>
        runDoor({
          work: SHOUT,
          listen: { hostname: "127.0.0.1", port: running.port },
          storage: { kind: "folder", path: folder },
        }),
      CapsuleError,
    );
    assertEquals(error.code, "service.listen_failed");
    await using other = await runDoor({ work: SHOUT, storage: { kind: "folder", path: folder } });
    assertEquals((await call(other.port, "ListTasks", {})).result.totalSize, 0);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});
