import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { CapsuleError } from "../../../base/mod.ts";
import type { Msg } from "../../../protocol/control/mod.ts";
import type { Model } from "../model.ts";
import type { ModelClock } from "../model_clock.ts";
import { openModel } from "../open_model.ts";
import { playbookOf } from "./scripted_model.ts";

function open(turns: readonly unknown[], clock?: ModelClock): Promise<Model> {
  const uri = `data:application/json,${encodeURIComponent(JSON.stringify({ turns }))}`;
  return openModel({ uri, headers: [], dialect: "scripted" }, clock === undefined ? {} : { clock });
}

function ask(model: Model, messages: readonly Msg[] | string, more: { signal?: AbortSignal; pieces?: string[] } = {}) {
  const said: readonly Msg[] = typeof messages === "string" ? [{ role: "user", text: messages, ts: 0 }] : messages;
  return model.call({
    messages: said,
    tools: [],
    maxOutputTokens: 10,
    signal: more.signal ?? new AbortController().signal,
    onText: (piece) => more.pieces?.push(piece),
  });
}

Deno.test("ScriptedModel plays its turns in order, then says that all are played", async () => {
  const model = await open([
    { text: "One, then é — 100 %", usage: { input_tokens: 7, output_tokens: 2 } },
    { tool_calls: [{ name: "list", arguments: { a: 1 } }, { name: "bad", arguments: "{" }] },
  ]);
  const pieces: string[] = [];
  assertEquals(await ask(model, "hi", { pieces }), {
    text: "One, then é — 100 %",
    toolCalls: [],
    usage: { input_tokens: 7, output_tokens: 2 },
    isUsageReported: true,
    stop: "end",
    model: "scripted",
  });
  assertEquals(pieces, ["One, then é — 100 %"]);
  const second = await ask(model, "go on");
  assertEquals([second.stop, second.isUsageReported, second.text], ["tool_calls", false, ""]);
  assertEquals(second.toolCalls, [
    { id: "call_1", name: "list", arguments: { a: 1 } },
    { id: "call_2", name: "bad", arguments: "{" },
  ]);
  const error = await assertRejects(() => ask(model, "more"), CapsuleError, "all its turns (2) are played");
  assertEquals(error.code, "model.rejected");
});

Deno.test("ScriptedModel: a condition is about what came after the model's last word, from the user or from tools", async () => {
  const call = { id: "call_1", name: "list", arguments: {} };
  const messages: Msg[] = [
    { role: "system", text: "apple", ts: 0 },
    { role: "user", text: "apple", ts: 0 },
    { role: "assistant", tool_calls: [call], ts: 0 },
    { role: "tool", id: "call_1", name: "list", content: "found a pear", is_error: false, ts: 0 },
    { role: "tool", id: "call_2", name: "list", content: "found a plum", is_error: false, ts: 0 },
    { role: "note", text: "apple", ts: 0 },
  ];
  const model = await open([
    { when_contains: "apple", text: "an apple" },
    { when_contains: "pear", tool_calls: [{ name: "again" }] },
    { when_contains: "pear", text: "a second pear" },
  ]);
  assertEquals((await ask(model, messages)).toolCalls, [{ id: "call_2", name: "again", arguments: {} }]);
  assertEquals((await ask(model, messages)).text, "a second pear");
  const error = await assertRejects(() => ask(model, messages), CapsuleError, "none of the turns left (1 of 3) fits");
  assertEquals(error.code, "model.rejected");
  assertEquals((await ask(model, "an apple?")).text, "an apple");
});

Deno.test("ScriptedModel waits as long as its turn says, unless it is called off", async () => {
  const waits: number[] = [];
  let run = () => {};
  const clock: ModelClock = {
    nowMs: () => 0,
    after(ms, then) {
      waits.push(ms);
      run = then;
      return () => waits.push(-1);
    },
  };
  const model = await open([{ text: "slow", delay_ms: 50 }, { text: "slower", delay_ms: 60 }], clock);
  const first = ask(model, "");
  run();
  assertEquals((await first).text, "slow");
  const abort = new AbortController();
  const second = ask(model, "", { signal: abort.signal });
  abort.abort(new Error("stop"));
  await assertRejects(() => second, Error, "stop");
  assertEquals(waits, [50, -1, 60, -1]);
  await assertRejects(() => ask(model, "", { signal: AbortSignal.abort(new Error("early")) }), Error, "early");
});

Deno.test("playbookOf takes only a percent-encoded data URI of JSON", () => {
  assertEquals(playbookOf('data:application/json,{"turns":[]}').turns, []);
  for (
    const uri of [
      "",
      "https://example.com",
      "data:text/plain,{}",
      "data:application/json,%E0%A4%A",
      "data:application/json,",
    ]
  ) {
    assertEquals(assertThrows(() => playbookOf(uri), CapsuleError).code, "model.rejected");
  }
});
