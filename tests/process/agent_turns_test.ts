import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { EMPTY_TURN } from "../../src/protocol/control/payload_fixture.ts";
import { forExecutable } from "../harness.ts";
import { ModelServer } from "../models/model_server.ts";
import { type Frame, readTrace, type Started } from "./running_session.ts";
import { callOf, startAgent } from "./running_agent.ts";

/** Waits until so many frames of a type, or events of a name, have come, and gives the last of them. */
async function nth({ session }: Started, name: string, count: number): Promise<Frame> {
  for (;;) {
    const found = session.frames.filter(({ type, event }) => type === name || (type === "event" && event === name));
    if (found.length >= count) return found[count - 1]!;
    await session.changed();
  }
}

const outcomeOf = ({ outcome }: Frame) => {
  const { status, partial, result } = outcome as Record<string, unknown>;
  return [status, partial, result];
};

forExecutable(
  "warm agent: it takes one turn after the other, knows what was said, and keeps its last answer",
  async (bed) => {
    await using started = await startAgent(bed, {
      task: { warm: true },
      turns: [
        { when_contains: "the task", text: "one", usage: { input_tokens: 1, output_tokens: 2 } },
        { when_contains: "second", text: "two" },
        { when_contains: "third", text: "three" },
      ],
    });
    const { session, prepared } = started;
    assertEquals(outcomeOf(await nth(started, "turn", 1)), ["completed", false, "one"]);
    await session.send({ type: "inject", message: "second" });
    await session.send({ type: "inject", message: "third" });
    assertEquals(outcomeOf(await nth(started, "turn", 2)), ["completed", false, "two"]);
    assertEquals(outcomeOf(await nth(started, "turn", 3)), ["completed", false, "three"]);
    await session.send({ type: "cancel", reason: "closed" });
    const result = await session.result();
    assertEquals([result.code, outcomeOf(result.last!)], [130, ["cancelled", false, "three"]]);
    assertEquals(Deno.readTextFileSync(`${prepared.places.out}/result.txt`), "three");
    assertEquals([...Deno.readDirSync(prepared.places.out)].length, 4);
  },
);

forExecutable(
  "warm agent: the transcript goes from turn to turn, steps are counted anew and tokens are not",
  async (bed) => {
    const usage = { input_tokens: 40, output_tokens: 5 };
    await using server = ModelServer.start({
      turns: [{ text: "one", usage }, { text: "two", usage }, { text: "three", usage }],
    });
    await using started = await startAgent(bed, {
      task: { warm: true },
      limits: { max_steps: 1, max_tokens: 90 },
      intelligence: { uri: server.url, model: "m", headers: [] },
    });
    await nth(started, "turn", 1);
    await started.session.send({ type: "inject", message: "second" });
    const result = await started.session.result();
    const roles = server.requests.map(({ body }) => body.messages.map((message: { role: string }) => message.role));
    assertEquals(roles, [["system", "user"], ["system", "user", "assistant", "user"]]);
    assertEquals(outcomeOf(result.last!), ["completed", false, "two"]);
  },
);

forExecutable(
  "warm agent: each turn has its own deadline; a failing model costs the turn and not the session",
  async (bed) => {
    await using server = ModelServer.start({
      turns: [{ text: "late", delay_ms: 30_000 }, { text: "two" }],
      faults: ["400"],
    });
    await using started = await startAgent(bed, {
      task: { warm: true },
      limits: { deadline_ms: 1_500 },
      intelligence: { uri: server.url, model: "m", headers: [] },
    });
    assertEquals(outcomeOf(await nth(started, "turn", 1)).slice(0, 2), ["failed", false]);
    await started.session.send({ type: "inject", message: "again" });
    assertEquals(outcomeOf(await nth(started, "turn", 2)), ["deadline", false, ""]);
    await started.session.send({ type: "inject", message: "again" });
    assertEquals(outcomeOf(await nth(started, "turn", 3)), ["completed", false, "two"]);
  },
);

forExecutable("warm agent: a turn is ended by itself, in its model call too, and the next one comes", async (bed) => {
  await using server = ModelServer.start({ turns: [{ text: "two" }], faults: ["mute"] });
  await using started = await startAgent(bed, {
    task: { warm: true },
    intelligence: { uri: server.url, model: "m", headers: [] },
  });
  while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await started.session.send({ type: "cancel_turn" });
  assertEquals(outcomeOf(await nth(started, "turn", 1)), ["cancelled", false, ""]);
  await started.session.send({ type: "cancel_turn" });
  await started.session.send({ type: "inject", message: "again" });
  assertEquals(outcomeOf(await nth(started, "turn", 2)), ["completed", false, "two"]);
  const roles = server.requests[1]!.body.messages.map((message: { role: string }) => message.role);
  assertEquals(roles, ["system", "user", "user"]);
});

forExecutable(
  "warm agent: it asks by a gate and is answered by an inject; an answer to no gate is dropped",
  async (bed) => {
    await using started = await startAgent(bed, {
      task: { warm: true },
      turns: [callOf("request-input", { question: "Which one?" }), { when_contains: "the red one", text: "red it is" }],
    });
    const gate = await nth(started, "gate", 1);
    assertEquals(gate["payload"], { question: "Which one?" });
    await started.session.send({ type: "inject", node: "other", message: "nothing" });
    await started.session.send({ type: "inject", node: gate["node"], message: "the red one" });
    assertEquals(outcomeOf(await nth(started, "turn", 1)), ["completed", false, "red it is"]);
    const closed = await nth(started, "gate_closed", 1);
    assertEquals([closed["node"], closed["via"]], [gate["node"], "reply"]);
  },
);

forExecutable(
  "agent: a component that is its tool asks by the same gate, and delegates to nobody without a grant",
  async (bed) => {
    await using started = await startAgent(bed, {
      tools: { probe: "tool_probe" },
      task: { warm: true },
      turns: [
        callOf("probe", { do: "ask", text: "Which one?" }),
        { when_contains: "the red one", ...callOf("probe", { do: "delegate", capsule: "worker" }) },
        { when_contains: "The tool failed", text: "red it is" },
      ],
    });
    const gate = await nth(started, "gate", 1);
    // Nobody takes its words for the agent's.
    assertEquals(gate["payload"], { question: "The tool probe asks: Which one?" });
    await started.session.send({ type: "inject", node: gate["node"], message: "the red one" });
    assertEquals(outcomeOf(await nth(started, "turn", 1)), ["completed", false, "red it is"]);
  },
);

forExecutable(
  "agent: paused it stands still at the next boundary and answers pings; resumed it goes on; cancel beats pause",
  async (bed) => {
    const turns = [callOf("nix"), { text: "done" }];
    for (const end of ["resume", "cancel"] as const) {
      await using started = await startAgent(bed, { turns });
      const { session } = started;
      await session.send({ type: "pause" });
      await session.waitFor("loop.paused");
      await session.send({ type: "ping", seq: 1 });
      await session.waitFor("pong");
      await session.send(end === "resume" ? { type: "resume" } : { type: "cancel", reason: "no" });
      const result = await session.result();
      assertEquals(outcomeOf(result.last!)[0], end === "resume" ? "completed" : "cancelled");
      assertEquals(result.frames.filter(({ event }) => event === "loop.resumed").length, end === "resume" ? 1 : 0);
    }
  },
);

forExecutable("agent: an unusable swap changes nothing and is rejected by name", async (bed) => {
  await using server = ModelServer.start({ turns: [{ text: "old" }] });
  await using started = await startAgent(bed, { intelligence: { uri: server.url, model: "old", headers: [] } });
  const { session } = started;
  await session.send({ type: "pause" });
  await session.waitFor("loop.paused");
  for (const uri of ["http://127.0.0.1:9/v1", "ftp://x", ""]) {
    await session.send({ type: "swap_intel", uri, model: "new", token: "s3cret-token", policy: "restart-turn" });
  }
  await session.send({ type: "resume" });
  const rejected = await session.waitFor("intel.swap.reject");
  assertEquals(rejected["fields"], { reason: "endpoint 1 of 1 in uri is empty" });
  const result = await session.result();
  assertEquals([outcomeOf(result.last!), server.requests[0]!.body.model], [["completed", false, "old"], "old"]);
  assertEquals(JSON.stringify([result.frames, result.stderr]).includes("s3cret-token"), false);
  await using beyond = ModelServer.start({ turns: [{ text: "old" }] });
  await using walled = await startAgent(bed, { intelligence: { uri: beyond.url, model: "old", headers: [] } });
  await walled.session.send({ type: "swap_intel", uri: "http://127.0.0.1:9/v1", policy: "finish-on-old" });
  const reason = (await walled.session.waitFor("intel.swap.reject"))["fields"];
  assertEquals(reason, { reason: "its port is none that the walls of this session allow" });
  assertEquals(outcomeOf((await walled.session.result()).last!), ["completed", false, "old"]);
});

forExecutable(
  "agent: its model is swapped in the middle of a turn, which goes on, or begins again if the model changed",
  async (bed) => {
    const ways = [["finish-on-old", "new", false], ["restart-turn", "new", true], [
      "restart-turn",
      "old",
      false,
    ]] as const;
    for (const [policy, model, restart] of ways) {
      await using old = ModelServer.start({ turns: [callOf("guarded")] });
      await using fresh = ModelServer.start({ turns: [{ text: "answered" }] });
      await using started = await startAgent(bed, {
        intelligence: { uri: `${old.url},${fresh.url}`, model: "old", token: "t", headers: [] },
        task: {
          role: "turn",
          gated_tools: ["guarded"],
          turn: { ...TURN, tools: [{ name: "guarded", input_schema: true }], budget_admission: true },
        },
      });
      const { session } = started;
      const asked = await session.waitFor("tool_request");
      await session.send({ type: "swap_intel", uri: old.url, model: "never", policy });
      await session.send({ type: "swap_intel", uri: fresh.url, model, policy });
      await session.send({ type: "pause" });
      await session.send({ type: "tool_result", id: asked["id"], result: "done", is_error: false });
      await session.waitFor("loop.paused");
      assertEquals(fresh.requests.length, 0);
      await session.send({ type: "resume" });
      const result = await session.result();
      const turn = result.last!["turn"] as { status: string; text: string; messages: unknown[] };
      assertEquals([turn.status, turn.text, turn.messages.length], ["completed", "answered", restart ? 2 : 4]);
      const told = result.frames.filter(({ event }) => event === "intel.swap").map(({ fields }) => fields);
      assertEquals(told, [{ model, restart }]);
      const [request] = fresh.requests;
      assertEquals([request!.body.model, request!.headers["authorization"]], [model, undefined]);
      assertEquals(request!.body.messages.length, restart ? 2 : 4);
    }
  },
);

const TURN = { ...EMPTY_TURN, system: "be brief", turn_id: "t" };

forExecutable(
  "turn: one turn of a conversation that is kept above; its own tools go up, and the delta comes back",
  async (bed) => {
    const message = (text: string) => ({ role: "user", text, ts: 1 }) as const;
    const tool = { name: "lookup", description: "Looks\nup", input_schema: { type: "object", required: ["key"] } };
    await using started = await startAgent(
      bed,
      {
        task: {
          role: "turn",
          turn: {
            ...TURN,
            kind: "agent",
            messages: [message("what is k?")],
            tools: [tool, { name: "absent", input_schema: true }],
            internal: ["lookup"],
            idempotency_prefix: "ctx_1/7",
            output_schema: { type: "object", required: ["k"] },
          },
        },
        turns: [
          callOf("lookup", {}),
          { when_contains: "do not fit", ...callOf("lookup", { key: "k" }) },
          { when_contains: "source=tool:lookup", ...callOf("absent") },
          { when_contains: "there is no such tool, there are: lookup, finish", text: 'k is ```json\n{"k": 1}\n```' },
        ],
      },
      (frame) =>
        frame.type === "tool_request"
          ? { type: "tool_result", id: frame["id"], result: { v: 1 }, is_error: false }
          : undefined,
    );
    const result = await started.session.result();
    assertEquals([result.code, result.last!.type], [0, "turn_done"], result.stderr);
    const turn = result.last!["turn"] as {
      status: string;
      value: unknown;
      messages: { role: string }[];
      rounds: number;
    };
    assertEquals([turn.status, turn.value, turn.rounds], ["completed", { k: 1 }, 4]);
    const events = readTrace(started.prepared).map(({ event }) => event);
    assertEquals(events.filter((event) => event.startsWith("task_")), ["task_start", "task_end"]);
    assertEquals(
      turn.messages.map(({ role }) => role),
      ["assistant", "tool", "assistant", "tool", "assistant", "tool", "assistant"],
    );
    assertEquals(
      result.frames.filter(({ type }) => type === "budget_request"),
      [],
    );
    const [asked] = result.frames.filter(({ type }) => type === "tool_request");
    assertMatch(String(asked?.["idempotency_key"]), /^ctx_1\/7\/[0-9a-f]{32}\/1$/);
    assertStringIncludes(JSON.stringify(turn.messages), '<untrusted-content source=tool:lookup>\\n{\\"v\\":1}');
  },
);
