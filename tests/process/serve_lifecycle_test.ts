/** How a served capsule takes tasks: what its manifest says of it, what `boll serve` makes of that, and who waits for whom. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { type Bed, forExecutable } from "../harness.ts";
import { assertNothingLeft } from "./leftovers.ts";
import { reasonOf, serve, servedProbe, textOf } from "./served.ts";

const FOREVER = `printError("at work"); for (;;) {}`;

async function capsuleWith(bed: Bed, lifecycle: Record<string, unknown>): Promise<string> {
  const folder = await servedProbe(bed);
  const path = join(folder, "capsule.jsonc");
  Deno.writeTextFileSync(path, JSON.stringify({ ...JSON.parse(Deno.readTextFileSync(path)), lifecycle }));
  return folder;
}

forExecutable("serve: `accept: single` takes one task, and ends as it ended; --queue takes more", async (bed) => {
  const capsule = await capsuleWith(bed, { accept: "single" });
  const served = await serve(bed, { capsule });
  assertEquals(textOf(await served.send(`"once"`)), '"once"\n');
  assertEquals(await served.over(), 0);
  assertEquals(served.trace.at(-1)!["status"], "completed");
  const failing = await serve(bed, { capsule });
  assertStringIncludes(reasonOf(await failing.send("exit(3)")), "exit code 3");
  assertEquals(await failing.over(), 3);
  const named = await serve(bed, { capsule, flags: ["--name", "one"] });
  const [running, other] = [await named.submit(FOREVER), await named.submit("1")];
  assertEquals([other.status.state, reasonOf(other)], [
    "TASK_STATE_REJECTED",
    "this session takes one task, and has it",
  ]);
  await named.untilLogged("at work");
  assertEquals((await named.cancel(running.id)).status.state, "TASK_STATE_CANCELED");
  assertEquals(await named.over(), 130);
  const queued = await serve(bed, { capsule, flags: ["--queue", "2"] });
  for (const text of ["1", "2"]) assertEquals(textOf(await queued.send(text)), `${text}\n`);
  assertEquals(await queued.stop(), 0);
  const idle = await serve(bed, { capsule });
  assertEquals(await idle.stop(), 0);
  assertNothingLeft(bed);
});

forExecutable(
  "serve: `queue_depth` is the manifest's unless --queue says another; `none` is not served",
  async (bed) => {
    const capsule = await capsuleWith(bed, { queue_depth: 1 });
    for (const [flags, wanted] of [[[], 1], [["--queue", "3"], 3]] as const) {
      const served = await serve(bed, { capsule, flags });
      const states = [];
      for (let sent = 0; sent < 5; sent++) states.push((await served.submit(FOREVER)).status.state);
      assertEquals(states.filter((state) => state === "TASK_STATE_SUBMITTED").length, 1 + wanted);
      assertEquals(await served.stop(), 0);
    }
    const none = await capsuleWith(bed, { accept: "none" });
    const { code, stderr } = await bed.run(["serve", none, "--accept"]);
    assertEquals(code, 5);
    assertStringIncludes(stderr, "lifecycle.accept: found none");
    const long = await bed.run(["serve", capsule, "--accept", "--task-timeout", "61m"]);
    assertEquals([long.code, long.stdout], [2, ""]);
    assertStringIncludes(long.stderr, 'Read --task-timeout: found "61m", wanted a duration from 1ms to 1h');
  },
);

forExecutable(
  "serve: what its owner sends as `system` waits behind the tasks of users and peers; a peer's word about itself is none",
  async (bed) => {
    const served = await serve(bed);
    const { token: peer } = JSON.parse((await bed.run(["token", "add", "ada", "--json"])).stdout);
    while ((await served.call("ListTasks", {}, peer))["status"] === 401) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const system = { "x-boll-task-origin": "system" };
    const running = await served.submit(FOREVER);
    await served.untilLogged("at work");
    const waiting = [
      await served.submit(`"background"`, served.token, system),
      await served.submit(`"peer's"`, peer, system),
      await served.submit(`"user's"`),
      await served.submit(`"later"`, served.token, system),
      await served.submit(`"peer's second"`, peer),
    ];
    await served.cancel(running.id);
    for (const { id } of waiting) await served.ended(id);
    const begun = served.trace.filter(({ event }) => event === "task_start").slice(1);
    const order = begun.map(({ task_id, origin }) => [waiting.findIndex(({ id }) => id === task_id), origin]);
    assertEquals(order, [[1, "peer"], [2, "user"], [4, "peer"], [0, "system"], [3, "system"]]);
    assertEquals(await served.stop(), 0);
    assertNothingLeft(bed);
  },
);

forExecutable(
  "serve: a task that was under way is run again only when the capsule says that it may be",
  async (bed) => {
    for (const [idempotent, wanted] of [[true, "TASK_STATE_WORKING"], [false, "TASK_STATE_FAILED"]] as const) {
      const capsule = await capsuleWith(bed, { idempotent });
      const flags = ["--name", `twice-${idempotent}`];
      const first = await serve(bed, { capsule, flags });
      const { id } = await first.submit(FOREVER);
      await first.untilLogged("at work");
      first.running.child.kill("SIGKILL");
      await first.over();
      const second = await serve(bed, { capsule, flags });
      if (idempotent) await second.untilLogged("at work");
      assertEquals((await second.get(id)).status.state, wanted);
      if (idempotent) await second.cancel(id);
      assertEquals(await second.stop(), 0);
    }
  },
);

forExecutable(
  "serve: an agent's question waits for `input_timeout_ms`; of `single`, what its one task came to",
  async (bed) => {
    const inference = { dialect: "scripted", uri: "playbook.json" };
    const turns = [
      { tool_calls: [{ name: "request-input", arguments: { question: "Who?" } }] },
      { text: "Good day." },
    ];
    const waiting = (input_timeout_ms: number) =>
      bed.folder(`waits-${input_timeout_ms}`, {
        "capsule.jsonc": JSON.stringify({
          ...{ name: "asks", version: "0.1.0", inference },
          lifecycle: { accept: "single", input_timeout_ms },
        }),
        "playbook.json": JSON.stringify({ turns }),
      });
    const unanswered = await serve(bed, { capsule: waiting(1) });
    const { id } = await unanswered.submit("hello");
    assertEquals(await unanswered.over(), 1);
    const end = unanswered.trace.find(({ event, task_id }) => event === "task_end" && task_id === id)!;
    assertEquals([end["state"], end["reason"]], ["failed", "nobody answered its question in time"]);
    assertEquals([unanswered.trace.at(-1)!["status"], unanswered.trace.at(-1)!["exit_code"]], ["failed", 1]);
    const answered = await serve(bed, { capsule: waiting(600_000) });
    const sent = await bed.run(["send", answered.sessionId, "hello"]);
    assertEquals(sent.code, 3, sent.stderr);
    const [, task] = /--task (tsk_\w+)/.exec(sent.stderr)!;
    const said = await bed.run(["send", answered.sessionId, "Ada", "--task", task!]);
    assertEquals([said.code, said.stdout.trim()], [0, "Good day."], said.stderr);
    assertEquals(await answered.over(), 0);
  },
);
