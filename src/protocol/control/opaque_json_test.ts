import { assertEquals } from "@std/assert";
import { assertFault } from "./field_table_fixture.ts";
import { decodeAgent, decodeControl, MAX_JSON_DEPTH, MAX_SCHEMA_BYTES } from "./mod.ts";
import { FULL_PAYLOAD } from "./payload_fixture.ts";

function nested(depth: number, inside: unknown = 0): unknown {
  let value = inside;
  for (let i = 0; i < depth; i++) value = i % 2 ? [value] : { a: value };
  return value;
}

function event(fields: unknown): object {
  return { type: "event", event: "e", fields };
}

function result(value: unknown): object {
  return {
    type: "result",
    outcome: { status: "completed", partial: false, result: value, scheduled: [], subscriptions: [] },
  };
}

function spawn(output_schema: unknown): object {
  return { type: "spawn", ...FULL_PAYLOAD, output_schema };
}

Deno.test("opaque JSON: 64 levels are taken and one more is refused, however deep it goes", () => {
  for (const depth of [0, 1, MAX_JSON_DEPTH - 1, MAX_JSON_DEPTH]) {
    assertEquals<unknown>(decodeAgent(result(nested(depth))), result(nested(depth)));
  }
  for (const depth of [MAX_JSON_DEPTH + 1, 1_000_000]) {
    assertFault(() => decodeAgent(result(nested(depth))), "outcome.result is not JSON that nests at most 64 deep");
    assertFault(() => decodeAgent(event({ a: nested(depth) })), "fields");
    assertFault(() => decodeControl(spawn(nested(depth, {}))), "output_schema");
  }
});

Deno.test("opaque JSON: small fields are bounded by size and by count, results by the frame alone", () => {
  // An object, its key and a text: 8 + 1 + 8.
  const room = 64 * 1024 - 17;
  assertEquals<unknown>(decodeAgent(event({ a: "x".repeat(room) })), event({ a: "x".repeat(room) }));
  assertFault(() => decodeAgent(event({ a: "x".repeat(room + 1) })), "fields is not JSON of at most 65536 bytes");
  assertFault(() => decodeAgent(event({ ["x".repeat(room + 2)]: "" })), "fields");
  const items = (64 * 1024 - 17) / 8 | 0;
  assertEquals<unknown>(decodeAgent(event({ a: Array(items).fill(0) })), event({ a: Array(items).fill(0) }));
  assertFault(() => decodeAgent(event({ a: Array(items + 1).fill(0) })), "fields");
  const large = { type: "tool_request", id: 1, name: "t", args: "x".repeat(1024 * 1024 - 8) };
  assertEquals<unknown>(decodeAgent(large), large);
  assertFault(() => decodeAgent({ ...large, args: `${large.args}x` }), "args");
  assertEquals<unknown>(decodeAgent(result("x".repeat(4 << 20))), result("x".repeat(4 << 20)));
});

Deno.test("jsonSchema: no regular expression, wherever it hides; a property may be called pattern", () => {
  const evil = "(a+)+$";
  const refused = [
    { pattern: evil },
    { properties: { a: { pattern: evil } } },
    { allOf: [{}, { items: { not: { pattern: evil } } }] },
    { $ref: "#/default", default: { pattern: evil } },
    { $ref: "#/const/0", const: [{ pattern: evil }] },
    { novel: { pattern: evil } },
    { patternProperties: { [evil]: true } },
    { $defs: { patternProperties: { patternProperties: {} } } },
  ];
  for (const schema of refused) {
    assertFault(
      () => decodeControl(spawn(schema)),
      "output_schema is not a schema without pattern",
      JSON.stringify(schema),
    );
  }
  for (
    const schema of [
      {},
      { properties: { pattern: { type: "string" } }, required: ["pattern"] },
      { enum: ["pattern"], description: "pattern" },
      true,
      false,
    ]
  ) {
    assertEquals<unknown>(decodeControl(spawn(schema)), spawn(schema));
  }
});

Deno.test("jsonSchema: 64 KiB and not more", () => {
  // An object, its key and a text: 8 + 11 + 8.
  const description = "x".repeat(MAX_SCHEMA_BYTES - 27);
  assertEquals<unknown>(decodeControl(spawn({ description })), spawn({ description }));
  assertFault(() => decodeControl(spawn({ description: `${description}x` })), "output_schema");
});
