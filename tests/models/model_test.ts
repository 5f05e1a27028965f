import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { CapsuleError, type ErrorCode } from "../../src/base/mod.ts";
import type { ModelHealth } from "../../src/agent/model/mod.ts";
import type { Msg, ToolDef } from "../../src/protocol/control/mod.ts";
import { ask, type Asked, openAt, TestClock, untilAsked, USER } from "./model_fixture.ts";
import { type Fault, ModelServer, type ServedDialect } from "./model_server.ts";
import { THINKING } from "./thinking.ts";

const SECRET = "sk-secret-0123456789";
const TURN = {
  text: "Grüße, 世界 🌍, and more words than one event holds",
  usage: { input_tokens: 11, output_tokens: 7 },
};
const CALLS = {
  text: "I look.",
  tool_calls: [{ name: "list-files", arguments: { path: "a/b", deep: { n: [1, 2] } } }, { name: "now", arguments: {} }],
  usage: { input_tokens: 5, output_tokens: 6 },
};

/** One test for each dialect. */
function eachDialect(name: string, body: (dialect: ServedDialect) => Promise<void>): void {
  for (const dialect of ["openai", "anthropic"] as const) {
    Deno.test(`openModel (${dialect}): ${name}`, () => body(dialect));
  }
}

/** Nothing of the credential is in an error, however deep one looks. */
function assertSecretFree(error: Error): void {
  assertEquals(error.cause, undefined);
  for (const text of [error.message, error.stack ?? "", JSON.stringify(error), Deno.inspect(error, { depth: 9 })]) {
    assert(!text.includes("sk-secret") && !text.includes("0123456789"), text);
  }
}

async function refuse(run: () => Promise<unknown>, code: ErrorCode, ...parts: string[]): Promise<CapsuleError> {
  const error = await assertRejects(run, CapsuleError);
  assertEquals([error.code, error.message], [code, error.message]);
  for (const part of parts) assertStringIncludes(error.message, part);
  assertSecretFree(error);
  return error;
}

eachDialect("a text, streamed in pieces that are the whole, with the provider's own usage", async (dialect) => {
  await using server = ModelServer.start({ turns: [TURN] });
  const model = await openAt(server.url, dialect);
  const { answer, streamed } = await ask(model, { temperature: 0.5, maxOutputTokens: 123 });
  model.close();
  assertEquals(answer, {
    text: TURN.text,
    toolCalls: [],
    usage: TURN.usage,
    isUsageReported: true,
    stop: "end",
    model: "any",
  });
  assert(streamed.length > 1);
  assertEquals(streamed.join(""), TURN.text);
  const [{ headers, body, path }] = server.requests as [ModelServer["requests"][number]];
  assertEquals([body.model, body.max_tokens, body.temperature, body.stream], ["any", 123, 0.5, true]);
  assertEquals(headers["user-agent"], "boll");
  if (dialect === "openai") assertEquals([path, headers.authorization], ["/v1/chat/completions", `Bearer ${SECRET}`]);
  else assertEquals([path, headers["x-api-key"], headers.authorization], ["/v1/messages", SECRET, undefined]);
});

eachDialect("tool calls, and a whole transcript that goes back", async (dialect) => {
  await using server = ModelServer.start({ turns: [CALLS, { ...TURN, when_contains: "two files" }] });
  const model = await openAt(server.url, dialect, { headers: [["x-team", "a"]] });
  const tools: ToolDef[] = [
    { name: "list-files", description: "Lists", input_schema: { properties: { path: { type: "string" } } } },
    { name: "now", input_schema: true },
  ];
  const messages: Msg[] = [{ role: "system", text: "Be brief", ts: 0 }, { role: "user", text: "look", ts: 0 }];
  const { answer } = await ask(model, { messages, tools });
  assertEquals([answer.text, answer.stop, answer.usage], ["I look.", "tool_calls", CALLS.usage]);
  assertEquals(answer.toolCalls, [
    { id: "call_1", name: "list-files", arguments: { path: "a/b", deep: { n: [1, 2] } } },
    { id: "call_2", name: "now", arguments: {} },
  ]);
  const broken = { id: "call_3", name: "now", arguments: "{" };
  const { answer: last } = await ask(model, {
    tools,
    messages: [
      ...messages,
      { role: "assistant", text: answer.text, tool_calls: [...answer.toolCalls, broken], ts: 0 },
      { role: "tool", id: "call_1", name: "list-files", content: "two files", is_error: false, ts: 0 },
      { role: "note", text: "for people", ts: 0 },
      { role: "tool", id: "call_2", name: "now", content: "", is_error: true, ts: 0 },
      { role: "tool", id: "call_3", name: "now", content: "no JSON", is_error: true, ts: 0 },
      { role: "assistant", text: "", tool_calls: [], ts: 0 },
      { role: "user", text: "", ts: 0 },
    ],
  });
  model.close();
  assertEquals(last.text, TURN.text);
  assertEquals(server.requests.map(({ headers }) => headers["x-team"]), ["a", "a"]);
  const sent = JSON.stringify(server.requests[1]!.body);
  assert(!sent.includes("for people") && sent.includes("invalid_arguments") && sent.includes("Be brief"));
  const [{ body }] = server.requests as [ModelServer["requests"][number]];
  const schemas = body.tools.map((tool: Record<string, unknown>) =>
    tool.input_schema ?? (tool.function as { parameters: unknown }).parameters
  );
  assertEquals(schemas, [{ type: "object", properties: { path: { type: "string" } } }, { type: "object" }]);
});

for (const thinks of THINKING) {
  eachDialect(`what it thought (${thinks}) goes back with its calls as it came, and is no text`, async (dialect) => {
    await using server = ModelServer.start({ turns: [CALLS, CALLS, TURN, TURN, TURN], thinks });
    const model = await openAt(server.url, dialect);
    const results = ["list-files", "now"].map((name) => ({
      ...{ role: "tool" as const, name, content: "ok", is_error: false, ts: 0 },
    }));
    const messages: Msg[] = [...USER];
    const take = ({ answer }: Asked) => {
      const { text, toolCalls, reasoning } = answer;
      messages.push({ role: "assistant", text, tool_calls: toolCalls, ...(reasoning && { reasoning }), ts: 0 });
      messages.push(...toolCalls.map(({ id }, i) => ({ ...results[i]!, id })));
    };
    for (const turn of [CALLS, CALLS, TURN]) {
      const asked = await ask(model, { messages });
      assertEquals([asked.answer.text, asked.streamed.join("")], [turn.text, turn.text]);
      assertEquals(asked.answer.reasoning === undefined, turn === TURN);
      take(asked);
    }
    // In a later turn of the conversation, too.
    take(await ask(model, { messages: [...messages, ...USER] }));
    model.close();
    // Another model has no use for its signatures.
    const other = await openAt(server.url, dialect, { model: "another" });
    await refuse(() => ask(other, { messages }), "model.rejected", "status 400");
    other.close();
    assert(!JSON.stringify(server.requests.at(-1)!.body).includes("secretly"));
  });
}

eachDialect("half a character in a chunk comes out whole; no usage counts 0 and says so", async (dialect) => {
  await using server = ModelServer.start({
    turns: [TURN, TURN, { text: "a", usage: TURN.usage }],
    faults: ["half_character", "no_usage"],
  });
  const model = await openAt(server.url, dialect);
  const first = await ask(model);
  assertEquals([first.answer.text, first.streamed.join("")], [TURN.text, TURN.text]);
  assert(first.streamed.every((piece) => !piece!.includes("\ufffd")));
  const { answer } = await ask(model);
  assertEquals([answer.text, answer.usage, answer.isUsageReported], [
    TURN.text,
    { input_tokens: 0, output_tokens: 0 },
    false,
  ]);
  const { answer: counted } = await ask(model);
  assertEquals([counted.usage, counted.isUsageReported], [TURN.usage, true]);
  model.close();
});

eachDialect("wrong JSON in arguments is their text, never an error", async (dialect) => {
  await using server = ModelServer.start({ turns: [CALLS, CALLS], faults: ["wrong_json"] });
  const model = await openAt(server.url, dialect);
  const written = async () => (await ask(model)).answer.toolCalls.map((call) => call.arguments);
  assertEquals(await written(), ['{"path":"a/b","deep":{"n":[1,2]}', "{"]);
  assertEquals(await written(), CALLS.tool_calls.map((call) => call.arguments));
  model.close();
});

for (const fault of ["401", "403"] as const) {
  eachDialect(
    `${fault} ends it at once and names the variable, not its value; then it may be asked again`,
    async (dialect) => {
      await using server = ModelServer.start({ turns: [TURN], faults: [fault, fault] });
      await using other = ModelServer.start({ turns: [TURN] });
      const model = await openAt(`${server.url},${other.url}`, dialect);
      await refuse(() => ask(model), "model.unauthorized", `status ${fault} from http://127.0.0.1`, "variable THE_KEY");
      assertEquals([server.requests.length, other.requests.length], [1, 0]);
      model.close();
      const nameless = await openAt(server.url, dialect, { credential: "" });
      await refuse(() => ask(nameless), "model.unauthorized", "name its variable as api_key");
      assertEquals((await ask(nameless)).answer.text, TURN.text);
      nameless.close();
    },
  );
}

eachDialect(
  "another 4xx is no reason for the next endpoint; what the server says is quoted, unless it repeats a credential",
  async (dialect) => {
    await using server = ModelServer.start({ turns: [], faults: ["400", "echo"] });
    const model = await openAt(`${server.url},http://127.0.0.1:1`, dialect);
    await refuse(() => ask(model), "model.rejected", "status 400 from http://127.0.0.1", "(it says: refused with 400)");
    await refuse(() => ask(model), "model.rejected", "its words are left out");
    await refuse(() => ask(model), "model.rejected", "all its turns (0) are played");
    assertEquals(server.requests.length, 3);
    model.close();
  },
);

eachDialect("a redirect is not followed: its target sees nothing at all", async (dialect) => {
  await using target = ModelServer.start({ turns: [TURN] });
  await using server = ModelServer.start({ faults: [] });
  await using redirecting = ModelServer.start({ faults: ["redirect"], redirectTo: `${target.url}/messages?k=hush` });
  const model = await openAt(`${redirecting.url},${server.url}`, dialect);
  const error = await refuse(() => ask(model), "model.rejected", "a redirect (307)", "not followed with a credential");
  assert(!error.message.includes("hush") && !error.message.includes(target.url));
  assertEquals([redirecting.requests.length, target.requests, server.requests], [1, [], []]);
  model.close();
});

/** Faults that another attempt mends. */
const PASSING: readonly Fault[] = ["429", "500", "cut", "no_sse", "empty", "bad_event", "error_event"];
for (const fault of PASSING) {
  eachDialect(
    `${fault} is tried again twice; the answer then counts, and what was streamed before is taken back`,
    async (dialect) => {
      await using server = ModelServer.start({ turns: [TURN], faults: [fault, fault] });
      const clock = new TestClock();
      const model = await openAt(server.url, dialect, { clock });
      const { answer, streamed } = await ask(model);
      model.close();
      assertEquals([answer.text, server.requests.length, clock.openWaits], [TURN.text, 3, 0]);
      assertEquals(clock.waits, fault === "429" ? [2_000, 2_000] : [250, 500]);
      const last = streamed.slice(streamed.lastIndexOf(null) + 1);
      assertEquals(last.join(""), TURN.text);
      // Only what was said is taken back.
      const isBegun = ["cut", "bad_event", "error_event"].includes(fault);
      assertEquals(streamed.filter((piece) => piece === null).length, isBegun ? 2 : 0);
    },
  );

  eachDialect(`${fault} three times is the end of one endpoint, and the next is asked`, async (dialect) => {
    await using server = ModelServer.start({ turns: [TURN], faults: [fault, fault, fault] });
    await using next = ModelServer.start({ turns: [TURN] });
    const clock = new TestClock();
    const alone = await openAt(server.url, dialect, { clock });
    const isUnreadable = ["no_sse", "empty", "bad_event"].includes(fault);
    await refuse(() => ask(alone), isUnreadable ? "model.bad_answer" : "model.unreachable", "found http://127.0.0.1");
    alone.close();
    server.fail(fault, fault, fault);
    const both = await openAt(`${server.url},${next.url}`, dialect, { clock });
    assertEquals((await ask(both)).answer.text, TURN.text);
    assertEquals([server.requests.length, next.requests.length], [6, 1]);
    both.close();
  });
}

eachDialect("a rest longer than 30 s is not waited for", async (dialect) => {
  await using server = ModelServer.start({ faults: ["429_long"] });
  await using next = ModelServer.start({ turns: [TURN, TURN] });
  const clock = new TestClock();
  const model = await openAt(`${server.url},${next.url}`, dialect, { clock });
  assertEquals((await ask(model)).answer.text, TURN.text);
  assertEquals((await ask(model)).answer.text, TURN.text);
  assertEquals([clock.waits, server.requests.length, next.requests.length], [[], 1, 2]);
  model.close();
});

eachDialect("60 s of silence end that attempt, before the first byte and in the middle", async (dialect) => {
  await using server = ModelServer.start({ turns: [TURN, TURN], faults: ["silence", "none", "mute", "mute", "mute"] });
  const clock = new TestClock();
  const model = await openAt(server.url, dialect, { clock });
  let isBegun = () => {};
  const begun = new Promise<void>((resolve) => isBegun = resolve);
  const asked = ask(model, { onText: isBegun });
  await begun;
  clock.expire();
  assertEquals((await asked).answer.text, TURN.text);
  assertEquals(server.requests.length, 2);
  const refused = refuse(() => ask(model), "model.unreachable", "it was silent for 60 s");
  for (const count of [3, 4, 5]) {
    await untilAsked(server, count);
    clock.expire();
  }
  await refused;
  assertEquals(clock.openWaits, 0);
  model.close();
});

eachDialect(
  "an answer of 100 MB and one without an end are given up at the bound, and not asked for again",
  async (dialect) => {
    await using server = ModelServer.start({ turns: [TURN], faults: ["huge", "endless"] });
    const model = await openAt(`${server.url},http://127.0.0.1:1`, dialect);
    await refuse(() => ask(model), "model.bad_answer", "more than 16 MiB from http://127.0.0.1");
    let length = 0;
    await refuse(() => ask(model, { onText: (piece) => length += piece.length }), "model.bad_answer", "more than");
    assert(length > 0 && length <= 4 * 1024 * 1024);
    assertEquals(server.requests.length, 2);
    assertEquals((await ask(model)).answer.text, TURN.text);
    model.close();
  },
);

eachDialect(
  "it is called off before, in the middle and between two attempts, with the signal's own reason",
  async (dialect) => {
    await using server = ModelServer.start({ turns: [TURN], faults: ["silence", "500"] });
    const clock = new TestClock();
    const model = await openAt(server.url, dialect, { clock });
    const stop = new Error("stop");
    await assertRejects(() => ask(model, { signal: AbortSignal.abort(stop) }), Error, "stop");
    const middle = new AbortController();
    await assertRejects(() => ask(model, { signal: middle.signal, onText: () => middle.abort(stop) }), Error, "stop");
    const between = new AbortController();
    const waiting = { nowMs: () => 0, after: (ms: number) => (ms === 250 ? between.abort(stop) : undefined, () => {}) };
    const patient = await openAt(server.url, dialect, { clock: waiting });
    await assertRejects(() => ask(patient, { signal: between.signal }), Error, "stop");
    assertEquals((await ask(model)).answer.text, TURN.text);
    assertEquals([server.requests.length, clock.openWaits], [3, 0]);
    model.close();
    patient.close();
  },
);

eachDialect(
  "health is told when all are down and when one is back, and then only; a resting endpoint is not dialled",
  async (dialect) => {
    await using first = ModelServer.start({ turns: [TURN] });
    await using second = ModelServer.start({ turns: [TURN, TURN] });
    first.fail("500", "500", "500", "500");
    second.fail("500", "500", "500");
    const clock = new TestClock();
    const health: ModelHealth[] = [];
    const model = await openAt(`${first.url},${second.url}`, dialect, { clock, onHealth: (told) => health.push(told) });
    await refuse(
      () => ask(model),
      "model.unreachable",
      "(1 of 2): status 500; http://127.0.0.1",
      "(2 of 2): status 500",
    );
    assertEquals(health, [{ all_down: true }]);
    await refuse(() => ask(model), "model.unreachable", "rests for 5 s more");
    assertEquals([first.requests.length, second.requests.length], [3, 3]);
    clock.advance(5_000);
    assertEquals((await ask(model)).answer.text, TURN.text);
    assertEquals([first.requests.length, second.requests.length], [4, 4]);
    assertEquals(health, [{ all_down: true }, { all_down: false, active: { index: 1, transport: "http" } }]);
    clock.advance(10_000);
    assertEquals((await ask(model)).answer.text, TURN.text);
    assertEquals([first.requests.length, second.requests.length, health.length], [5, 4, 2]);
    model.close();
  },
);

Deno.test("openModel: an endpoint that is not there is no model, and is named by its origin alone", async () => {
  const model = await openAt("http://127.0.0.1:1/hidden/path?key=hush", "openai", { clock: new TestClock() });
  const error = await refuse(() => ask(model), "model.unreachable", "http://127.0.0.1:1: it refused the connection");
  assert(!error.message.includes("hidden") && !error.message.includes("hush"));
  model.close();
});

Deno.test("openModel: what cannot be used is refused before anything is dialled", async () => {
  const none = { headers: [], model: "any" };
  for (
    const uri of ["", "http://example.com", "ftp://127.0.0.1", "https://u:sk-secret-0123456789@example.com", "nonsense"]
  ) {
    await refuse(() => openAt(uri, "openai", none), "model.rejected", "Open the model: found that endpoint 1 of 1");
  }
  const at = (more: Record<string, unknown>) => openAt("https://example.com", "openai", more);
  await refuse(() => at({ token: `${SECRET}\r\nx: y` }), "model.rejected", "in the header authorization");
  await refuse(
    () => at({ headers: [["x-a", `${SECRET}\n`], ["x-b", `a\u0000${SECRET}`]] }),
    "model.rejected",
    "header x-b",
  );
  await refuse(() => at({ headers: [["Host", SECRET]] }), "model.rejected", "framing");
  await refuse(() => at({ headers: [[`a ${SECRET}`, ""]] }), "model.rejected", "one whose name is none");
  (await at({ headers: [["x-a", "b"]] })).close();
});
