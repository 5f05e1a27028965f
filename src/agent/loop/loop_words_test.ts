import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { boundedText } from "./bounded_content.ts";
import { canonicalJson } from "./canonical_json.ts";
import { readJson } from "./read_json.ts";
import { SchemaCheck } from "./schema_check.ts";
import { STANDING_NOTICE, systemPrompt } from "./system_prompt.ts";
import { plainDescription } from "./told_tools.ts";

Deno.test("canonicalJson is the same for equal values and for no others", () => {
  assertEquals(canonicalJson({ b: [1, { d: 1, c: 2 }], a: null }), canonicalJson({ a: null, b: [1, { c: 2, d: 1 }] }));
  for (const [a, b] of [[{}, []], [{ a: 1 }, { a: "1" }], [{ a: { b: 1 } }, { "a.b": 1 }], [[1, 2], [2, 1]]]) {
    assert(canonicalJson(a) !== canonicalJson(b));
  }
  const proto = JSON.parse('{"__proto__":1}');
  assert(canonicalJson(proto) !== canonicalJson({}));
  fc.assert(fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
    const isSame = canonicalJson(a) === canonicalJson(b);
    assertEquals(isSame, canonicalJson(JSON.parse(JSON.stringify(a))) === canonicalJson(JSON.parse(JSON.stringify(b))));
  }));
});

Deno.test("readJson finds a value alone, in a code block and in a text, and none in what holds none", () => {
  for (
    const text of ["[1]", " [1] ", "```\n[1]\n```", "so: ```json\n[1]\n``` done", "so [x] it is [1].", 'a "[" [1]']
  ) {
    assertEquals(readJson(text), { value: [1] }, text);
  }
  assertEquals(readJson('text with {"a": "} ]"} in it'), { value: { a: "} ]" } });
  for (const text of ["", "no", "{", "[1", "{a: 1}", `${"[".repeat(5_000)}`, "{".repeat(100)]) {
    assertEquals(readJson(text), undefined, text.slice(0, 20));
  }
});

Deno.test("SchemaCheck tells what does not fit; a schema that cannot be used lets nothing through", () => {
  const check = new SchemaCheck({
    type: "object",
    properties: { n: { type: "integer", minimum: 2 } },
    required: ["n"],
  });
  assertEquals(check.findFault({ n: 2 }), undefined);
  assertStringIncludes(check.findFault({ n: 1 })!, "#/n");
  assertStringIncludes(check.findFault({})!, "n");
  assertEquals([true, false].map((schema) => new SchemaCheck(schema).findFault(1)), [
    undefined,
    "nothing fits the schema",
  ]);
  for (const schema of [{ $ref: "#" }, { $ref: "#/none" }, { $ref: "http://[" }, { required: 5 }]) {
    assertEquals(new SchemaCheck(schema).findFault({}), "the schema cannot be used", JSON.stringify(schema));
  }
  const frozen = Object.freeze({ type: "object", properties: Object.freeze({}) });
  assertEquals(new SchemaCheck(frozen).findFault({}), undefined);
  const long = new SchemaCheck({ const: "x".repeat(100_000) }).findFault(1)!;
  assert(long.length < 1_000);
});

Deno.test("plainDescription is one line of 200 characters, none of them invisible", () => {
  assertEquals(plainDescription(" Reads\n\ta\u202e file\u0000.\u200b "), "Reads a file .");
  assertEquals(Array.from(plainDescription("😀".repeat(201))).length, 200);
  assertEquals(plainDescription("x".repeat(200)), "x".repeat(200));
});

Deno.test("boundedText cuts between two characters, and nothing that fits", () => {
  assertEquals(boundedText("éé", 4), { text: "éé" });
  assertEquals(boundedText("éé", 3), { text: "é", cut: { kept: 2, bytes: 4 } });
});

Deno.test("systemPrompt has the capsule's word first and always the standing notice", () => {
  assertEquals(systemPrompt({}), STANDING_NOTICE);
  const whole = systemPrompt({
    prompt: "You review.",
    contract: "short",
    outputSchema: { type: "array" },
    context: ["seen"],
  });
  assert(whole.startsWith("You review.\n\nseen\n\n") && whole.endsWith(STANDING_NOTICE));
  assertStringIncludes(whole, '{"type":"array"}');
});
