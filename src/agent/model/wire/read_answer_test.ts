import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import { CapsuleError } from "../../../base/mod.ts";
import { AttemptFailure } from "./attempt_failure.ts";
import { ANSWER_LIMITS, readAnswer } from "./read_answer.ts";
import { endpointsOf } from "./model_endpoint.ts";
import { MAX_ARGUMENTS_LENGTH } from "./tool_arguments.ts";

const [ENDPOINT] = endpointsOf({ uri: "https://example.com/v1/hidden", headers: [] });
type Reason = Extract<LanguageModelV4StreamPart, { type: "finish" }>["finishReason"]["unified"];

function usage(input?: number, output?: number): LanguageModelV4Usage {
  return {
    inputTokens: { total: input, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: undefined, reasoning: undefined },
  };
}

function finish(unified: Reason = "stop", count = usage(1, 2)): LanguageModelV4StreamPart {
  return { type: "finish", finishReason: { unified, raw: undefined }, usage: count };
}

function text(...deltas: string[]): LanguageModelV4StreamPart[] {
  return deltas.map((delta) => ({ type: "text-delta", id: "0", delta }));
}

function call(input: string, more: { id?: string; name?: string } = {}): LanguageModelV4StreamPart {
  return { type: "tool-call", toolCallId: more.id ?? "c", toolName: more.name ?? "t", input };
}

async function read(...parts: LanguageModelV4StreamPart[]) {
  const pieces: string[] = [];
  const options = { endpoint: ENDPOINT!, thinker: "openai m", onText: (piece: string) => pieces.push(piece) };
  return { answer: await readAnswer(ReadableStream.from(parts), options), pieces };
}

async function tooLarge(message: string, ...parts: LanguageModelV4StreamPart[]): Promise<void> {
  const error = await assertRejects(() => read(...parts), CapsuleError, message);
  assertEquals(error.code, "model.bad_answer");
}

Deno.test("readAnswer takes what is just within its bounds and refuses what is one beyond", async () => {
  const calls = (count: number) => Array.from({ length: count }, (_, i) => call("{}", { id: `c${i}` }));
  assertEquals((await read(...calls(128), finish())).answer.toolCalls.length, 128);
  await tooLarge("more than 128 tool calls", ...calls(129), finish());
  const half = "x".repeat(ANSWER_LIMITS.text / 2);
  assertEquals((await read(...text(half, half), finish())).answer.text.length, ANSWER_LIMITS.text);
  await tooLarge("more than 4 MiB of text", ...text(half, half, "x"), finish());
  const written = (length: number) => call(`"${"x".repeat(length - 2)}"`);
  assertEquals((await read(written(MAX_ARGUMENTS_LENGTH), finish())).answer.toolCalls.length, 1);
  await tooLarge("more than 1 MiB of arguments", written(MAX_ARGUMENTS_LENGTH + 1), finish());
});

Deno.test("readAnswer hands on whole characters, and what stays half at the end", async () => {
  const { answer, pieces } = await read(...text("a\ud83c", "\udf0d", "\ud83c", "b", "\ud83c"), finish());
  assertEquals([answer.text, pieces], ["a🌍\ud83cb\ud83c", ["a", "🌍", "\ud83cb", "\ud83c"]]);
});

Deno.test("readAnswer: a usage that is missing or impossible is 0 and not reported", async () => {
  const count = async (input?: number, output?: number) => {
    const { answer } = await read(finish("stop", usage(input, output)));
    return [answer.usage.input_tokens, answer.usage.output_tokens, answer.isUsageReported];
  };
  assertEquals(await count(3, 4), [3, 4, true]);
  assertEquals(await count(0, 0), [0, 0, true]);
  assertEquals(await count(), [0, 0, false]);
  assertEquals(await count(3), [3, 0, false]);
  for (const wrong of [-1, 1.5, NaN, Infinity, 2 ** 53]) assertEquals(await count(wrong, 4), [0, 4, false]);
});

Deno.test("readAnswer: why the model stopped", async () => {
  const stop = async (reason: Reason, ...parts: LanguageModelV4StreamPart[]) =>
    (await read(...parts, finish(reason))).answer.stop;
  assertEquals([await stop("stop"), await stop("other"), await stop("tool-calls")], ["end", "end", "end"]);
  assertEquals([await stop("tool-calls", call("{}")), await stop("stop", call("{}"))], ["tool_calls", "tool_calls"]);
  assertEquals([await stop("length", call("{}")), await stop("content-filter")], ["length", "refused"]);
});

Deno.test("readAnswer: arguments are a value, or their text where that would be a danger or is no JSON", async () => {
  const written = async (input: string) => (await read(call(input), finish())).answer.toolCalls[0]!.arguments;
  const nested = (levels: number) => `${"[".repeat(levels)}"]]]["${"]".repeat(levels)}`;
  assertEquals(await written('{"a":[1,"}{"]}'), { a: [1, "}{"] });
  assertEquals([await written(""), await written(" ")], [{}, {}]);
  assertEquals(await written('{"a":'), '{"a":');
  assertEquals(await written("[1]x"), "[1]x");
  assertEquals(await written(nested(64)), JSON.parse(nested(64)));
  assertEquals(await written(nested(65)), nested(65));
  const many = `[${"1,".repeat(100_000)}1]`;
  assertEquals(await written(many), many);
  assertEquals(JSON.stringify(await written('{"__proto__":{"a":1}}')), '{"__proto__":{"a":1}}');
});

Deno.test("readAnswer: an id that no frame could hold is replaced, a name is cut", async () => {
  const long = "n".repeat(257);
  const { answer } = await read(call("{}", { id: long, name: long }), call("{}", { id: "" }), finish());
  const [first, second] = answer.toolCalls;
  assertEquals([first!.id.length, second!.id.length, first!.name.length], [41, 41, 256]);
});

Deno.test("readAnswer: an answer that ends too early broke off, one with nothing in it is none", async () => {
  const fail = async (kind: AttemptFailure["kind"], message: string, ...parts: LanguageModelV4StreamPart[]) => {
    const error = await assertRejects(() => read(...parts), AttemptFailure);
    assertEquals(error.kind, kind);
    assertStringIncludes(error.message, `https://example.com: ${message}`);
  };
  const start: LanguageModelV4StreamPart = { type: "stream-start", warnings: [] };
  await fail("unreadable", "its answer has no event", start);
  await fail("down", "its answer broke off", start, ...text("a"));
  await fail("down", "its answer broke off", ...text("a"), finish("interrupted"));
  await fail("down", "its answer broke off", ...text("a"), finish("error"));
  await fail("down", "it reported an error", { type: "error", error: { message: "sk-secret" } });
  const invalid = Object.assign(new Error("sk-secret"), { name: "AI_TypeValidationError" });
  await fail("unreadable", "an event of its answer is none of its dialect", { type: "error", error: invalid });
});
