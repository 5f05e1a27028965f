/** A list that is longer fits no `uniqueItems`, which compares each item with each. */
const MAX_UNIQUE_ITEMS = 1_000;

/** Keywords whose values are data and no schemas. */
const DATA: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);
/** Keywords whose values are schemas by name. */
const NAMED: ReadonlySet<string> = new Set(["properties", "$defs", "definitions", "dependentSchemas"]);

/** A keyword of another version that the validator reads at each schema that it applies. */
const READ_AT_EACH_STEP = "$recursiveAnchor";

/**
 * A copy of a foreign schema that tells of each step of a check: what `onStep` throws ends it. What may take long within
 * one step is changed: `format` is left out, whose expressions were not made for hostile texts; a long list is not unique.
 */
export function boundedSchema(schema: unknown, onStep: () => void): unknown {
  if (typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map((item) => boundedSchema(item, onStep));
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === "format") continue;
    const isNamed = NAMED.has(key) && typeof value === "object" && value !== null && !Array.isArray(value);
    put(copy, key, DATA.has(key) ? value : isNamed ? eachBounded(value, onStep) : boundedSchema(value, onStep));
  }
  if (copy["uniqueItems"]) boundUniqueItems(copy);
  const anchor = copy[READ_AT_EACH_STEP];
  const get = () => {
    onStep();
    return anchor;
  };
  return Object.defineProperty(copy, READ_AT_EACH_STEP, { get, enumerable: anchor !== undefined });
}

function eachBounded(schemas: object, onStep: () => void): object {
  const copy = {};
  for (const [name, schema] of Object.entries(schemas)) put(copy, name, boundedSchema(schema, onStep));
  return copy;
}

/** A name may be `__proto__`. */
function put(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

function boundUniqueItems(schema: Record<string, unknown>): void {
  const { allOf = [], uniqueItems } = schema;
  const bounded = { if: { maxItems: MAX_UNIQUE_ITEMS }, then: { uniqueItems }, else: false };
  delete schema["uniqueItems"];
  // Its own `uniqueItems` stays as it is: only short lists come to it.
  schema["allOf"] = Array.isArray(allOf) ? [...allOf, bounded] : allOf;
}
