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

Deno.test("SchemaCheck: a hostile schema has its time, a hostile text and a long list take none, and nothing else is changed", () => {
  const next = (i: number) => ({ allOf: Array.from({ length: 2 }, () => ({ $ref: `#/$defs/a${i + 1}` })) });
  const levels = Array.from({ length: 31 }, (_, i) => [`a${i}`, i === 30 ? { type: "object" } : next(i)]);
  let looks = 0;
  const doubling = new SchemaCheck({ $ref: "#/$defs/a0", $defs: Object.fromEntries(levels) }, () => looks++);
  assertEquals(doubling.findFault({}), "to check it takes more than 2000 ms");
  assertEquals(looks, 2_002);
  // A time for each check, and not for all of them.
  const tree = new SchemaCheck({ properties: { child: { $ref: "#" } }, required: ["n"] }, () => looks += 100);
  for (let i = 0; i < 20; i++) assertEquals(tree.findFault({ n: 1, child: { n: 2 } }), undefined);
  assertStringIncludes(tree.findFault({ n: 1, child: {} })!, "#/child");

  const unique = new SchemaCheck({ uniqueItems: true, allOf: [{ minItems: 2 }] });
  const list = Array.from({ length: 1_001 }, (_, i) => i);
  assertEquals(unique.findFault(list.slice(0, 1_000)), undefined);
  for (const faulty of [list, [1, 1], [1]]) assert(unique.findFault(faulty) !== undefined);
  assertEquals(new SchemaCheck({ format: "email" }).findFault("x"), undefined);
  const named = { format: { const: { format: "x" } }, uniqueItems: true, $recursiveAnchor: { enum: [1] } };
  const data = new SchemaCheck({ properties: named, additionalProperties: false });
  assertEquals(data.findFault({ format: { format: "x" }, uniqueItems: [1, 1], $recursiveAnchor: 1 }), undefined);
  for (const faulty of [{ format: {} }, { $recursiveAnchor: 2 }, { other: 1 }]) {
    assert(data.findFault(faulty) !== undefined, JSON.stringify(faulty));
  }
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
