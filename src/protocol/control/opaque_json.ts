import type { Fields } from "../fields.ts";

/** Bounds of a value that is passed on undecoded. */
export interface JsonBounds {
  /** About as many bytes as it has as JSON: text by its characters, 8 for every value. */
  readonly maxBytes: number;
}

/** How deep a value that is passed on may nest: whoever walks or writes it recursively keeps its stack. */
export const MAX_JSON_DEPTH = 64;

/** The largest JSON Schema, bytes. */
export const MAX_SCHEMA_BYTES = 64 * 1024;

/** Bound of small opaque values: the fields of an event, the payload of a gate. */
export const SMALL_JSON: JsonBounds = { maxBytes: 64 * 1024 };

/** Bound of arguments and metadata. */
export const LARGE_JSON: JsonBounds = { maxBytes: 1024 * 1024 };

/** Keywords of JSON Schema that hold regular expressions: a hostile one runs for ever. */
const REGULAR_EXPRESSIONS: Readonly<Record<string, string>> = { pattern: "string", patternProperties: "object" };

/** A JSON Schema from elsewhere, checked by {@link jsonSchema}. */
export type JsonSchema = Readonly<Record<string, unknown>> | boolean;

/** Any JSON value within the bounds. @throws `protocol.bad_field` when it is not there, too large or too deep */
export function opaqueJson(fields: Fields, name: string, bounds: JsonBounds): unknown {
  if (!fields.has(name)) fields.fail(name, "there");
  const value = fields.raw(name);
  const wrong = walk(value, bounds, () => true);
  return wrong === undefined ? value : fields.fail(name, wrong);
}

/** A JSON object within the bounds, not decoded. @throws `protocol.bad_field` */
export function opaqueObject(fields: Fields, name: string, bounds: JsonBounds): Readonly<Record<string, unknown>> {
  fields.object(name);
  return opaqueJson(fields, name, bounds) as Readonly<Record<string, unknown>>;
}

/**
 * A JSON Schema of at most 64 KiB without `pattern` or `patternProperties`, wherever they stand: a `$ref` may point
 * anywhere. A property that is called `pattern` is none.
 *
 * @throws `protocol.bad_field`
 */
export function jsonSchema(fields: Fields, name: string): JsonSchema {
  const value = fields.raw(name);
  if (typeof value === "boolean") return value;
  fields.object(name);
  const wrong = walk(value, { maxBytes: MAX_SCHEMA_BYTES }, hasNoExpression);
  return wrong === undefined ? value as JsonSchema : fields.fail(name, wrong);
}

function hasNoExpression(key: string, value: unknown): boolean {
  return !Object.hasOwn(REGULAR_EXPRESSIONS, key) || typeof value !== REGULAR_EXPRESSIONS[key];
}

/** What the value should have been, when it is not. Without recursion: its depth is what is being checked. */
function walk(
  root: unknown,
  { maxBytes }: JsonBounds,
  allows: (key: string, value: unknown) => boolean,
): string | undefined {
  const open: { value: unknown; depth: number }[] = [{ value: root, depth: 0 }];
  let bytes = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth } = next;
    bytes += typeof value === "string" ? value.length + 8 : 8;
    if (typeof value === "object" && value !== null) {
      if (depth >= MAX_JSON_DEPTH) return `JSON that nests at most ${MAX_JSON_DEPTH} deep`;
      for (const key of Object.keys(value)) {
        const item = (value as Record<string, unknown>)[key];
        if (!Array.isArray(value)) {
          bytes += key.length;
          if (!allows(key, item)) return `a schema without ${key}`;
        }
        open.push({ value: item, depth: depth + 1 });
        if (bytes + 8 * open.length > maxBytes) break;
      }
    }
    if (bytes + 8 * open.length > maxBytes) return `JSON of at most ${maxBytes} bytes`;
  }
  return undefined;
}
