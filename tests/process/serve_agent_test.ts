/** An agent behind a door: each message a turn of its model. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { freePort } from "../../src/session/network/free_port.ts";
import { type Bed, forExecutable } from "../harness.ts";
import { childrenOf } from "../processes.ts";
import { warmGuest } from "../warm_cache.ts";
import { callOf } from "./agent_workspace.ts";
import { assertNothingLeft } from "./leftovers.ts";
import { reasonOf, serve, type Served, textOf } from "./served.ts";

/** An agent of 1 600 tokens, whose every answer costs 300; what it says tells how often it was asked. */
function frugal(bed: Bed): string {
  const usage = { input_tokens: 200, output_tokens: 100 };
  return bed.folder("frugal", {
    "capsule.jsonc": JSON.stringify({
      ...{ name: "frugal", version: "1.0.0" },
      inference: { dialect: "scripted", uri: "play.json", max_session_tokens: 1_600, max_output_tokens: 100 },
    }),
    "play.json": JSON.stringify({ turns: [1, 2, 3, 4, 5, 6].map((n) => ({ text: `answer ${n}`, usage })) }),
  });
}

async function ready({ url }: Served): Promise<readonly [number, unknown]> {
  const response = await fetch(new URL("readyz", url));
  return [response.status, (await response.json()).reason];
}

forExecutable(
  "serve AGENT: peers spend half of its tokens and no more, the owner the rest; when all is spent it says so",
  async (bed) => {
    const served = await serve(bed, { capsule: frugal(bed) });
    const [ada, bob] = await Promise.all(["ada", "bob"].map(async (name) => {
      const { token } = JSON.parse((await bed.run(["token", "add", name, "--json"])).stdout);
      while ((await served.call("ListTasks", {}, token))["status"] === 401) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return token as string;
    }));
    assertEquals(textOf(await served.send("one", ada)), "answer 1");
    assertEquals(textOf(await served.send("two", bob)), "answer 2");
    for (const peer of [ada, bob]) {
      const refused = await served.send("more", peer);
      assertEquals(refused.status.state, "TASK_STATE_FAILED");
      assertStringIncludes(reasonOf(refused), "peers have 200 tokens left");
    }
    assertEquals(await ready(served), [200, undefined]);
    for (const n of [3, 4, 5, 6]) assertEquals(textOf(await served.send("mine")), `answer ${n}`);
    assertStringIncludes(reasonOf(await served.send("again")), "its tokens are used up");
    assertEquals(await ready(served), [503, "its tokens are spent"]);
    await served.running.stderr.waitFor("its tokens are spent (max_session_tokens)");
    assertEquals(await served.stop(), 7);
    const { status, detail } = (await served.running.result()).json!;
    assertEquals([status, detail], ["exhausted_tokens", "9 tasks, 3 of them not completed; its tokens are spent"]);
  },
);

forExecutable(
  "serve AGENT: each message is answered by its model, and nothing is left when it is stopped",
  async (bed) => {
    const capsule = bed.folder("agent", {
      "capsule.jsonc": JSON.stringify({
        name: "tester",
        version: "1.0.0",
        inference: { dialect: "scripted", uri: "play.json" },
      }),
      "play.json": JSON.stringify({
        turns: [{ when_contains: "first", text: "one" }, { when_contains: "second", text: "two" }],
      }),
    });
    const served = await serve(bed, { capsule });
    assertEquals(textOf(await served.send("the first")), "one");
    assertEquals(textOf(await served.send("the second")), "two");
    assertEquals(await served.stop(), 0);
    assertNothingLeft(bed);
    const refused = await bed.run(["serve", "--accept", "--model", "m", capsule, "--dialect", "openai"]);
    assertEquals(refused.code, 2);
    assertStringIncludes(refused.stderr, "Read --dialect: openai needs --uri too");
  },
);

forExecutable(
  "serve AGENT: while nobody reaches its model it says that it is not ready, and what failed",
  async (bed) => {
    const away = `http://127.0.0.1:${freePort("127.0.0.1")}`;
    const inference = { uri: away, model: "m" };
    const capsule = bed.folder("agent", {
      "capsule.jsonc": JSON.stringify({ name: "tester", version: "1.0.0", inference }),
    });
    const served = await serve(bed, { capsule });
    assertEquals(await ready(served), [200, undefined]);
    const task = await served.send("the task");
    assertEquals([task.status.state, reasonOf(task)], ["TASK_STATE_FAILED", "its model could not be asked"]);
    assertEquals(await ready(served), [503, "its model cannot be reached"]);
    assertEquals(await served.stop(), 0);
    assertNothingLeft(bed);
  },
);

forExecutable(
  "serve AGENT: a tool that loops costs its cell, though that is older than the last wall, and a stop is clean",
  async (bed) => {
    const turns = [{ when_contains: "spin", ...callOf("probe", { do: "loop", text: "on" }) }, { text: "after it" }];
    const tools = [{ name: "probe", component: "probe.wasm", grants: { limits: { deadline_ms: 500 } } }];
    const inference = { dialect: "scripted", uri: "play.json" };
    const capsule = bed.folder("agent", {
      "capsule.jsonc": JSON.stringify({ name: "tester", version: "1.0.0", inference, tools }),
      "play.json": JSON.stringify({ turns }),
    });
    Deno.copyFileSync(await warmGuest(bed, "tool_probe"), join(capsule, "probe.wasm"));
    const served = await serve(bed, { capsule });
    const [first] = childrenOf(served.sessionPid);
    assertEquals(textOf(await served.send("spin")), "after it");
    while (childrenOf(served.sessionPid).includes(first!)) await new Promise((resolve) => setTimeout(resolve, 20));
    // With no cell of its own left, and with one that lives.
    assertEquals(await served.stop(), 0);
    assertEquals(served.trace.filter(({ event }) => event === "cell_lost").length, 1);
    const again = await serve(bed, { capsule });
    assertEquals(childrenOf(again.sessionPid).length, 1);
    assertEquals(await again.stop(), 0);
    assertNothingLeft(bed);
  },
);
