import { assertEquals } from "@std/assert";
import * as z from "zod/mini";
import { manifestSchema, workspaceSchema } from "./schema.ts";

/** The keys that a schema has, and those that must be there. */
function keysOf(schema: z.core.$ZodObject): { all: string[]; required: string[] } {
  const { properties = {}, required = [] } = z.toJSONSchema(schema);
  return { all: Object.keys(properties), required: [...required] };
}

Deno.test("manifestSchema: of a value, the keys that it has and those that every manifest must have", () => {
  const { all, required } = keysOf(manifestSchema());
  assertEquals(keysOf(manifestSchema({})), { all: required, required });
  assertEquals(keysOf(manifestSchema({ args: [], strange: 1 })).all, ["name", "version", "args"]);
  assertEquals(keysOf(manifestSchema(Object.fromEntries(all.map((key) => [key, null])))).all, all);
  for (const value of [undefined, null, "text"]) assertEquals(keysOf(manifestSchema(value)).all, all);
});

Deno.test("workspaceSchema: of a value, the keys that it has", () => {
  assertEquals(keysOf(workspaceSchema()).required, []);
  assertEquals(keysOf(workspaceSchema({ ca: "x", strange: 1 })).all, ["ca"]);
});
