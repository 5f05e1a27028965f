import type { JsonSchema } from "../../protocol/control/mod.ts";

type Words = (text: string) => string;

/** Keywords whose values are data: what they say is compared, not read. */
const DATA: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);
/** Keywords whose values are schemas by names of the publisher's. */
const NAMED: ReadonlySet<string> = new Set(["properties", "$defs", "definitions", "dependentSchemas"]);
const TEXTS: ReadonlySet<string> = new Set(["description", "title"]);

/**
 * A publisher's schema with its descriptions made `plain`, as that of its tool is, and without its comments: a model reads
 * them all as words about the tool. It fits what it fitted. How deep it nests was bounded where it came in.
 */
export function plainSchema(schema: JsonSchema, plain: Words): JsonSchema {
  return plainOf(schema, plain) as JsonSchema;
}

function plainOf(value: unknown, plain: Words): unknown {
  if (Array.isArray(value)) return value.map((item) => plainOf(item, plain));
  if (typeof value !== "object" || value === null) return value;
  return mapObject(value, (key, item) => {
    if (key === "$comment") return undefined;
    if (TEXTS.has(key)) return typeof item === "string" ? plain(item) : undefined;
    if (DATA.has(key)) return item;
    const isNamed = NAMED.has(key) && typeof item === "object" && item !== null && !Array.isArray(item);
    return isNamed ? mapObject(item, (_, one) => plainOf(one, plain)) : plainOf(item, plain);
  });
}

/** Each entry anew; without those that come to nothing. */
function mapObject(object: object, map: (key: string, value: unknown) => unknown): object {
  const entries = Object.entries(object).map(([key, value]) => [key, map(key, value)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}
