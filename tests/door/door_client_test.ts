import { assertEquals, assertRejects } from "@std/assert";
import { CapsuleError } from "../../src/base/mod.ts";
import { DoorClient, type TaskNews } from "../../src/door/client/mod.ts";
import type { DoorLimits } from "../../src/door/limits.ts";
import { cardOf } from "../process/strange_peer.ts";
import { CuttingRelay } from "./cutting_relay.ts";
import { HeldWork, OWNER, runDoor } from "./running_door.ts";

Deno.test("DoorClient: an answer and files of any size come whole, from the stream and from the task", async () => {
  const work = new HeldWork();
  await using running = await runDoor({ work });
  using client = await DoorClient.open({ url: running.url, token: OWNER });
  const files = [10, 2 * 1024 * 1024, 5 * 1024 * 1024 + 1].map((bytes, at) => ({
    name: `file-${at}.bin`,
    mediaType: "application/octet-stream",
    bytes: new Uint8Array(bytes).fill(at + 1),
  }));
  const answer = `${"ü".repeat(600_000)}.`;
  const hearing = Array.fromAsync<TaskNews>(client.stream({ text: "go" }));
  const { task, voice, end } = await work.next();
  for (const file of files) voice.artifact(file);
  end({ state: "completed", answer });
  const news = await hearing;
  const heard = news.flatMap((one) => one.kind === "file" ? [one.file] : []);
  const wanted = files.map(({ name, bytes }) => [name, bytes.length]);
  assertEquals(heard.map(({ name, bytes }) => [name, bytes.length]), wanted);
  for (const [at, { bytes }] of heard.entries()) assertEquals(bytes.every((byte) => byte === at + 1), true);
  assertEquals(news.map((one) => one.kind === "output" ? one.text : "").join(""), answer);
  const whole = await client.get(task.id);
  assertEquals([whole.answer, whole.files.map(({ name, bytes }) => [name, bytes.length])], [answer, wanted]);
});

/** A client of a door behind a relay, and the first task that it sent; `hear` gives the texts of the next pieces. */
async function openRelayed(limits: Partial<DoorLimits> = {}) {
  const stack = new AsyncDisposableStack();
  const work = new HeldWork();
  const running = stack.use(await runDoor({ work, names: ["127.0.0.1"], limits }));
  const relay = stack.use(new CuttingRelay(running.port));
  const client = stack.use(await DoorClient.open({ url: relay.url, token: OWNER, retryMs: 1 }));
  const news = client.stream({ text: "go" });
  const heard: TaskNews[] = [];
  /** Reads on until that text was told. */
  const hearUntil = async (text: string) => {
    while (!JSON.stringify(heard.at(-1) ?? "").includes(text)) {
      const { value, done } = await news.next();
      if (done) throw new Error(`the stream ended before ${text}`);
      heard.push(value);
    }
  };
  const first = hearUntil("working");
  const held = await work.next();
  held.voice.working("working");
  await first;
  return { ...held, running, relay, client, news, heard, hearUntil, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

function textsOf(heard: readonly TaskNews[]): string[] {
  return heard.flatMap((one) => one.kind === "output" ? [one.text] : []);
}

Deno.test("DoorClient: a stream that is cut goes on where it was: each piece and each file once, and no gap", async () => {
  await using relayed = await openRelayed();
  const { relay, voice, end, news, heard, hearUntil } = relayed;
  voice.output("one ");
  await hearUntil("one ");
  for (let time = 0; time < 3; time++) {
    relay.cut();
    voice.working(`after cut ${time}`);
    await hearUntil(`after cut ${time}`);
  }
  const bytes = new Uint8Array(3 * 1024 * 1024).fill(7);
  voice.artifact({ name: "big.bin", mediaType: "application/octet-stream", bytes });
  relay.cut();
  end({ state: "completed", answer: "one two" });
  heard.push(...await Array.fromAsync(news));
  assertEquals(textsOf(heard), ["one ", "two"]);
  const files = heard.flatMap((one) => one.kind === "file" ? [one.file] : []);
  assertEquals(files.map(({ name, bytes }) => [name, bytes.length]), [["big.bin", bytes.length]]);
  assertEquals(heard.filter((one) => one.kind === "task").length, 1);
  const last = heard.at(-1)!;
  assertEquals(last.kind === "state" && last.task.state, "completed");
});

Deno.test("DoorClient: what is told no more after a cut is one gap, with the task as it stands", async () => {
  await using relayed = await openRelayed({ replayEvents: 2 });
  const { relay, voice, end, news, heard, hearUntil } = relayed;
  voice.output("one ");
  await hearUntil("one ");
  relay.cut();
  for (const text of ["a", "b", "c", "d"]) voice.working(text);
  voice.output("two ");
  end({ state: "completed", answer: "one two three" });
  heard.push(...await Array.fromAsync(news));
  const last = heard.at(-1)!;
  assertEquals(last.kind === "task" && [last.hasGap, last.task.state, last.task.answer], [
    true,
    "completed",
    "one two three",
  ]);
});

Deno.test("DoorClient: a reader that was too slow is told, comes back, and has the whole answer", async () => {
  await using relayed = await openRelayed({ readerEvents: 4, replayEvents: 512 });
  const { relay, voice, end, news, heard, running } = relayed;
  relay.hold();
  const long = "x".repeat(64 * 1024);
  for (let said = 0; !running.events.some(({ event }) => event === "readers_dropped"); said++) {
    voice.working(`${said} ${long}`);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  relay.release();
  end({ state: "completed", answer: "all of it" });
  heard.push(...await Array.fromAsync(news));
  assertEquals(textsOf(heard), ["all of it"]);
  const said = heard.flatMap((one) => one.kind === "state" ? [Number(one.task.reason?.split(" ")[0])] : [])
    .filter(Number.isInteger);
  assertEquals(said, said.map((_, at) => at));
  assertEquals(heard.some((one) => one.kind === "task" && one.hasGap), false);
});

Deno.test("DoorClient: a door that stays away is given up after some tries; a task that never was is not asked for twice", async () => {
  await using relayed = await openRelayed();
  const { relay, client, news } = relayed;
  const before = relay.count;
  const unknown = await assertRejects(() => Array.fromAsync(client.watch("tsk_none")), CapsuleError);
  assertEquals([unknown.code, relay.count - before <= 1], ["door.unknown_task", true]);
  relay[Symbol.dispose]();
  const gone = await assertRejects(() => Array.fromAsync(news), CapsuleError);
  assertEquals(gone.code, "door.unreachable");
});

Deno.test("DoorClient: an answer that has no end is given up at 64 MiB", async () => {
  const cancelled = Promise.withResolvers<void>();
  const chunk = new Uint8Array(8 * 1024 * 1024).fill(32);
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => {
    const pull = (controller: ReadableStreamDefaultController) => controller.enqueue(chunk);
    const body = new ReadableStream({ pull, cancel: () => cancelled.resolve() });
    return new Response(body, { headers: { "content-type": "application/json" } });
  });
  const opening = () => DoorClient.open({ url: `http://127.0.0.1:${server.addr.port}/` });
  const error = await assertRejects(opening, CapsuleError, "its answer is larger than 64 MiB");
  assertEquals(error.code, "door.refused");
  await cancelled.promise;
});

Deno.test("DoorClient: of several agents at one origin each is found by its path, and nothing at another's", async () => {
  const asked: string[] = [];
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    const { pathname } = new URL(request.url);
    asked.push(pathname);
    const [, agent] = /^\/(one|two)\/\.well-known\/agent-card\.json$/.exec(pathname) ?? [];
    return agent === undefined ? new Response("", { status: 404 }) : cardOf(`/${agent}/rpc`);
  });
  const origin = `http://127.0.0.1:${server.addr.port}`;
  for (const path of ["/one", "/two/"]) {
    using client = await DoorClient.open({ url: origin + path });
    await assertRejects(() => client.get("t1"), CapsuleError, "404");
  }
  await assertRejects(() => DoorClient.open({ url: `${origin}/three` }), CapsuleError, "no A2A agent is there");
  await assertRejects(() => DoorClient.open({ url: origin }), CapsuleError, "no A2A agent is there");
  const card = "/.well-known/agent-card.json";
  assertEquals(asked, [`/one${card}`, "/one/rpc", `/two${card}`, "/two/rpc", `/three${card}`, card]);
});
