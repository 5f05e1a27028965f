import { assertEquals } from "@std/assert";
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { MAX_REASONING, readReasoning, ReasoningKeeper } from "./kept_reasoning.ts";

const CALL: LanguageModelV4StreamPart = { type: "tool-call", toolCallId: "c", toolName: "t", input: "{}" };

function keep(...parts: LanguageModelV4StreamPart[]): string | undefined {
  const keeper = new ReasoningKeeper();
  for (const part of parts) keeper.add(part, 3);
  return keeper.kept;
}

function thought(delta: string): LanguageModelV4StreamPart[] {
  return [
    { type: "reasoning-start", id: "0" },
    { type: "reasoning-delta", id: "0", delta },
    { type: "reasoning-delta", id: "0", delta: "", providerMetadata: { p: { signature: "s" } } },
    { type: "reasoning-end", id: "0" },
  ];
}

Deno.test("ReasoningKeeper keeps what led to a call, with its place and its signature, and nothing else", () => {
  const metadata = { p: { signature: "s" } };
  assertEquals(readReasoning(keep(...thought("a"), CALL, ...thought("b"))!), {
    thoughts: [{ text: "a", chars: 3, calls: 0, metadata }, { text: "b", chars: 3, calls: 1, metadata }],
    calls: [null],
  });
  assertEquals(keep(...thought("a")), undefined);
  assertEquals(keep(CALL), undefined);
});

Deno.test("ReasoningKeeper keeps all or nothing: what is within its bound, and none of what is beyond", () => {
  const room = MAX_REASONING - JSON.stringify({ p: { signature: "s" } }).length;
  const kept = readReasoning(keep(...thought("x".repeat(room)), CALL)!);
  assertEquals(kept!.thoughts[0]!.text.length, room);
  assertEquals(keep(...thought("x".repeat(room + 1)), CALL), undefined);
});

Deno.test("readReasoning reads nothing from a text that is not its own", () => {
  for (const text of ["", "{", "null", "[]", '{"thoughts":1,"calls":[]}']) assertEquals(readReasoning(text), undefined);
});
