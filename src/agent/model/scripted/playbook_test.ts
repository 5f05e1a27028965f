import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { CapsuleError } from "../../../base/mod.ts";
import { parsePlaybook, PLAYBOOK_LIMITS } from "./playbook.ts";

function refuse(text: string, message: string): void {
  const error = assertThrows(() => parsePlaybook(text), CapsuleError, message);
  assertEquals(error.code, "model.rejected");
}

Deno.test("parsePlaybook reads a turn with all its fields, and one with the least", () => {
  const full = {
    when_contains: "hello",
    text: "Hi",
    tool_calls: [{ name: "list", arguments: { path: "." } }, { name: "broken", arguments: "{" }],
    usage: { input_tokens: 3, output_tokens: 4 },
    delay_ms: 5,
  };
  assertEquals(parsePlaybook(JSON.stringify({ turns: [full, { text: "" }] })), {
    turns: [full, { text: "", tool_calls: [], delay_ms: 0 }],
  });
  assertEquals(parsePlaybook('{"turns":[{"tool_calls":[{"name":"a"}],"usage":{}}]}').turns[0], {
    tool_calls: [{ name: "a", arguments: {} }],
    usage: { input_tokens: 0, output_tokens: 0 },
    delay_ms: 0,
  });
});

Deno.test("parsePlaybook names the place and what was wanted", () => {
  refuse("", "found a text that is no JSON at playbook");
  refuse('{"turns":[', "no JSON");
  refuse("[]", "found a list at playbook, wanted an object");
  refuse("null", "found null at playbook");
  refuse("{}", "found nothing at turns, wanted a list");
  refuse('{"turns":{}}', "found an object at turns");
  refuse('{"turns":[],"more":1}', "found a key that is not known at playbook, wanted only turns");
  refuse('{"__proto__":{"turns":[]}}', "not known at playbook");
  refuse('{"turns":[{}]}', "found neither text nor tool_calls at turns[0]");
  refuse('{"turns":[{"text":"a"},{"text":1}]}', "found the number 1 at turns[1].text, wanted a text");
  refuse('{"turns":[{"text":"a","then":1}]}', "wanted only when_contains, text");
  refuse('{"turns":[{"text":"a","when_contains":[]}]}', "turns[0].when_contains");
  refuse('{"turns":[{"tool_calls":[{}]}]}', "found nothing at turns[0].tool_calls[0].name");
  refuse('{"turns":[{"tool_calls":[{"name":""}]}]}', "wanted 1 to 256");
  refuse(
    '{"turns":[{"tool_calls":[{"name":"a","arguments":[]}]}]}',
    "found a list at turns[0].tool_calls[0].arguments",
  );
  refuse('{"turns":[{"text":"a","usage":{"input_tokens":-1}}]}', "found the number -1 at turns[0].usage.input_tokens");
  refuse('{"turns":[{"text":"a","usage":{"input_tokens":1.5}}]}', "wanted an integer");
  refuse('{"turns":[{"text":"a","delay_ms":1e999}]}', "found the number Infinity at turns[0].delay_ms");
});

Deno.test("parsePlaybook takes what is just within its bounds and refuses what is one beyond", () => {
  const turns = (count: number) => JSON.stringify({ turns: Array(count).fill({ text: "a" }) });
  assertEquals(parsePlaybook(turns(PLAYBOOK_LIMITS.turns)).turns.length, PLAYBOOK_LIMITS.turns);
  refuse(turns(PLAYBOOK_LIMITS.turns + 1), "found 10001 items at turns");
  const calls = (count: number) => JSON.stringify({ turns: [{ tool_calls: Array(count).fill({ name: "a" }) }] });
  assertEquals(parsePlaybook(calls(PLAYBOOK_LIMITS.calls)).turns[0]!.tool_calls.length, PLAYBOOK_LIMITS.calls);
  refuse(calls(PLAYBOOK_LIMITS.calls + 1), "tool_calls");
  const waits = (ms: number) => `{"turns":[{"text":"a","delay_ms":${ms}}]}`;
  assertEquals(parsePlaybook(waits(PLAYBOOK_LIMITS.delayMs)).turns[0]!.delay_ms, PLAYBOOK_LIMITS.delayMs);
  refuse(waits(PLAYBOOK_LIMITS.delayMs + 1), "wanted an integer from 0 to 600000");
  refuse(" ".repeat(PLAYBOOK_LIMITS.characters + 1), "characters at playbook");
  refuse("[".repeat(1_000_000), "nests deeper");
  const deep = (levels: number) =>
    `{"turns":[{"text":"${"[".repeat(99)}","tool_calls":[{"name":"a","arguments":{"a":${"[".repeat(levels)}${
      "]".repeat(levels)
    }}}]}]}`;
  assert(parsePlaybook(deep(58)));
  refuse(deep(59), "nests deeper");
});

Deno.test("parsePlaybook gives a playbook or model.rejected, whatever it is given", () => {
  const oneOf = (value: unknown) => {
    try {
      parsePlaybook(JSON.stringify(value) ?? "");
    } catch (error) {
      assertEquals((error as CapsuleError).code, "model.rejected");
    }
  };
  fc.assert(fc.property(fc.jsonValue(), oneOf));
  const value = fc.jsonValue({ maxDepth: 2 });
  const call = fc.record({ name: fc.oneof(fc.string(), value), arguments: value }, { requiredKeys: [] });
  const turn = fc.record(
    {
      text: fc.oneof(fc.string(), value),
      when_contains: value,
      tool_calls: fc.array(call),
      usage: value,
      delay_ms: value,
    },
    { requiredKeys: [] },
  );
  fc.assert(fc.property(fc.record({ turns: fc.array(fc.oneof(turn, value)) }), oneOf));
});
