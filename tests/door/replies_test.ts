import { assert, assertEquals } from "@std/assert";
import type { TaskStorage } from "../../src/door/mod.ts";
import { HeldWork, OWNER, runDoor, SHOUT } from "./running_door.ts";
import { ask, call, callHeaders, message, openStream, request, WireConnection } from "./wire_client.ts";

const MEGABYTE = 1024 * 1024;
/** More than kernels keep for a client that reads nothing. */
const LARGE = 16 * MEGABYTE;
const ADA = { token: "ada-token" };

function callText(port: number, method: string, params: unknown, token: string): string {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method, params });
  return request(port, { headers: callHeaders(token), body });
}

/** A client that asks for an answer and reads nothing of it. */
async function askOnly(port: number, id: string, token: string): Promise<WireConnection> {
  const connection = await WireConnection.open(port);
  await connection.send(callText(port, "GetTask", { id }, token));
  return connection;
}

/** Sends a message by a peer, and has it answered with so much text. */
async function ended(port: number, work: HeldWork, bytes: number): Promise<string> {
  const params = { ...message("work"), configuration: { returnImmediately: true } };
  const { id } = (await call(port, "SendMessage", params, ADA)).result.task;
  (await work.next()).end({ state: "completed", answer: "x".repeat(bytes) });
  while ((await call(port, "ListTasks", {}, ADA)).result.tasks[0].status.state !== "TASK_STATE_COMPLETED");
  return id;
}

async function held(port: number): Promise<number> {
  const { body } = await ask(port, { method: "GET", path: "/metrics", headers: callHeaders(OWNER) });
  return Number(/^boll_door_reply_bytes (\d+)$/m.exec(body)![1]);
}

Deno.test("large answers that nobody takes: further ones are 503, a peer's before the owner's; small ones, /healthz, work and cancel go on", async () => {
  const work = new HeldWork();
  await using running = await runDoor({ work, limits: { replyBytes: 20 * MEGABYTE } });
  const { port } = running;
  const [small, large] = [await ended(port, work, 10), await ended(port, work, LARGE)];
  const status = async (method: string, params: unknown, token: string) => {
    using connection = await WireConnection.open(port);
    await connection.send(callText(port, method, params, token));
    const { status, headers } = await connection.reply();
    return [status, headers.get("retry-after")];
  };
  const everything = { includeArtifacts: true };
  assertEquals(await status("GetTask", { id: large }, "ada-token"), [200, undefined]);
  using slow = await askOnly(port, large, "ada-token");
  while (await held(port) < LARGE);
  assertEquals(await status("GetTask", { id: large }, "ada-token"), [503, "1"]);
  assertEquals(await status("ListTasks", everything, "ada-token"), [503, "1"]);
  const rest = { method: "GET", path: `/v1/tasks/${large}`, headers: callHeaders("ada-token") };
  assertEquals((await ask(port, rest)).status, 503);
  assertEquals(await status("GetTask", { id: large }, OWNER), [200, undefined]);
  using slower = await askOnly(port, large, OWNER);
  while (await held(port) < 2 * LARGE);
  assertEquals(await status("GetTask", { id: large }, OWNER), [503, "1"]);

  for (const token of ["ada-token", OWNER]) {
    assertEquals(await status("GetTask", { id: small }, token), [200, undefined]);
    assertEquals(await status("ListTasks", {}, token), [200, undefined]);
  }
  assertEquals((await ask(port, { method: "GET", path: "/healthz" })).status, 200);
  const sent = call(port, "SendMessage", message("small"));
  (await work.next()).end({ state: "completed", answer: "done" });
  assertEquals((await sent).result.task.artifacts[0].parts[0].text, "done");
  const talking = call(port, "SendMessage", message("talks"));
  const { task, voice, end } = await work.next();
  voice.output("y".repeat(MEGABYTE));
  task.signal.addEventListener("abort", () => end({ state: "canceled" }));
  const canceled = (await call(port, "CancelTask", { id: task.id })).result;
  assertEquals([canceled.status.state, canceled.artifacts], ["TASK_STATE_CANCELED", undefined]);

  // What has its answer already is not to be asked for again: it waits.
  assert((await held(port)) >= 2 * LARGE);
  assertEquals(JSON.parse((await slow.reply()).body).result.artifacts[0].parts[0].text.length, LARGE);
  assertEquals(JSON.parse((await slower.reply()).body).result.artifacts[0].parts[0].text.length, LARGE);
  assertEquals((await talking).result.task.artifacts[0].parts[0].text.length, MEGABYTE);
  while (await held(port) > 0);
  assertEquals(await status("GetTask", { id: large }, "ada-token"), [200, undefined]);
  assertEquals(await status("ListTasks", everything, "ada-token"), [200, undefined]);
});

Deno.test("large answers that nobody takes: a client that goes holds nothing any more", async () => {
  const work = new HeldWork();
  await using running = await runDoor({ work, limits: { replyBytes: 20 * MEGABYTE } });
  const { port } = running;
  const large = await ended(port, work, LARGE);
  using slow = await askOnly(port, large, "ada-token");
  while (await held(port) < LARGE);
  slow[Symbol.dispose]();
  while (await held(port) > 0);
  assertEquals((await call(port, "GetTask", { id: large }, ADA)).result.id, large);
});

Deno.test("large answers that nobody takes: a stream tells its large pieces when there is room again, all of them", async () => {
  const work = new HeldWork();
  await using running = await runDoor({ work, limits: { replyBytes: 8 * MEGABYTE } });
  const { port } = running;
  const large = await ended(port, work, LARGE);
  using slow = await askOnly(port, large, OWNER);
  while (await held(port) < LARGE);
  using stream = await openStream(port, "SendStreamingMessage", message("z".repeat(MEGABYTE / 4)));
  assertEquals((await stream.head()).status, 200);
  (await work.next()).end({ state: "completed", answer: "a".repeat(MEGABYTE) });
  while ((await call(port, "ListTasks", { status: "TASK_STATE_COMPLETED", historyLength: 0 })).result.totalSize < 2);
  assert((await held(port)) < LARGE + MEGABYTE / 4, "the stream holds nothing");
  await slow.reply();
  let [text, state] = ["", ""];
  for await (const { data: { result } } of stream.events()) {
    text += result.artifactUpdate?.artifact.parts[0].text ?? "";
    state = result.statusUpdate?.status.state ?? state;
  }
  assertEquals([text.length, state], [MEGABYTE, "TASK_STATE_COMPLETED"]);
  // A piece that nobody takes is held as an answer is.
  while (await held(port) > 0);
  using unread = await openStream(port, "SendStreamingMessage", message("more"));
  assertEquals((await unread.head()).status, 200);
  (await work.next()).end({ state: "completed", answer: "b".repeat(LARGE) });
  while (await held(port) === 0);
  unread[Symbol.dispose]();
  while (await held(port) > 0);
});

for (const kind of ["memory", "folder"] as const) {
  Deno.test(`ListTasks, ${kind}: a page ends at so many bytes, and all tasks come once, over pages`, async () => {
    const path = Deno.makeTempDirSync();
    try {
      Deno.chmodSync(path, 0o700);
      const storage: TaskStorage = kind === "memory" ? { kind } : { kind, path };
      await using running = await runDoor({ work: SHOUT, storage, limits: { pageBytes: MEGABYTE } });
      const { port } = running;
      const sizes = [100, 400, 1, 900, 100, 100, 100, 100, 2_000, 3, 4, 300];
      const ids: string[] = [];
      for (const size of sizes) {
        const { task } = (await call(port, "SendMessage", message("x".repeat(size * 256)))).result;
        ids.push(task.id);
      }
      const pages = async (params: Record<string, unknown>) => {
        const found: string[][] = [];
        for (let pageToken = "";;) {
          const { result } = await call(port, "ListTasks", { ...params, pageToken });
          assertEquals(result.totalSize, sizes.length);
          found.push(result.tasks.map(({ id }: { id: string }) => id));
          const text = JSON.stringify(result.tasks);
          assert(result.tasks.length === 1 || text.length <= MEGABYTE, `${text.length} bytes in a page`);
          if ((pageToken = result.nextPageToken) === "") return found;
        }
      };
      const newest = ids.toReversed();
      const whole = await pages({ pageSize: 100, includeArtifacts: true });
      assertEquals(whole.flat(), newest);
      assert(whole.length > 2 && whole.some((page) => page.length > 1), `${whole.map((page) => page.length)}`);
      assertEquals((await pages({ pageSize: 5, includeArtifacts: true })).flat(), newest);
      assertEquals((await pages({ pageSize: 5, historyLength: 0 })).map((page) => page.length), [5, 5, 2]);
    } finally {
      Deno.removeSync(path, { recursive: true });
    }
  });
}
