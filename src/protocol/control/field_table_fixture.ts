import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { CapsuleError } from "../../base/mod.ts";

/** What becomes of a message without the field: a fault, a value without it, or its default. */
export type Absence = "required" | "absent" | { readonly default: unknown };

/** A field that is not what its value seems: any JSON, an object whose inside is free, a JSON Schema, not only integers. */
export type FreeKind = "json" | "object" | "schema" | "number";

/** Every field of one message by its dotted path, written down apart from the decoder, as the decoder is held to it. */
export interface FieldTable {
  readonly fields: Readonly<Record<string, Absence>>;
  readonly free?: Readonly<Record<string, FreeKind>>;
}

/** Stands for whatever must not be repeated in a fault. */
const SECRET = "s3cret";

type Json = Record<string, unknown>;

/**
 * Holds `decode` to the table with a message that has every field: each one dropped, null, and of every wrong kind. A
 * field of the message that the table lacks fails, as does a row that the message lacks.
 */
export function assertFields(decode: (message: unknown) => unknown, message: object, table: FieldTable): void {
  const { type } = message as Json;
  const paths = pathsOf(message as Json, table).filter((path) => path !== "type");
  assertEquals([...paths].sort(), Object.keys(table.fields).sort(), `${type}: the fields of the message and the table`);
  assertEquals(decode(wire(message)), message);
  for (const path of paths) {
    assertDropped(decode, message, path, table.fields[path]!);
    for (const wrong of wrongsOf(valueAt(message as Json, path), table.free?.[path])) {
      assertFault(() => decode(withValue(message, path, wrong)), path, `${type}.${path} = ${JSON.stringify(wrong)}`);
    }
  }
}

/** The message with another value at that path. */
export function withValue(message: object, path: string, value: unknown): Json {
  const changed = wire(message);
  const { holder, key } = placeOf(changed, path);
  holder[key] = value;
  return changed;
}

/** Asserts that the call is a fault of that field, which does not show what stood there. */
export function assertFault(call: () => unknown, path: string, what = path): void {
  assertStringIncludes(faultOf(call, what), `message.${path}`, what);
}

/** Asserts that the call is a fault of the message as a whole. */
export function assertMessageFault(call: () => unknown): void {
  assertStringIncludes(faultOf(call, "message"), "message is not an object");
}

function faultOf(call: () => unknown, what: string): string {
  const { code, message } = assertThrows(call, CapsuleError, "", what);
  assertEquals(code, "protocol.bad_field", what);
  assertEquals(message.includes(SECRET), false, `${what}: ${message}`);
  return message;
}

/** The message as it comes out of a frame. */
export function wire(message: object): Json {
  return JSON.parse(JSON.stringify(message));
}

function assertDropped(decode: (message: unknown) => unknown, message: object, path: string, absence: Absence): void {
  const dropped = without(message, path);
  if (absence === "required") return assertFault(() => decode(dropped), path, `without ${path}`);
  const expected = absence === "absent" ? dropped : withValue(message, path, absence.default);
  assertEquals(decode(dropped), expected, `without ${path}`);
}

function without(message: object, path: string): Json {
  const changed = wire(message);
  const { holder, key } = placeOf(changed, path);
  delete holder[key];
  return changed;
}

/** Paths of all fields, down to what is free inside; of a list, its objects. */
function pathsOf(value: Json, table: FieldTable, prefix = ""): string[] {
  return Object.entries(value).flatMap(([key, field]) => {
    const path = `${prefix}${key}`;
    return table.free?.[path] ? [path] : [path, ...pathsInside(field, path, table)];
  });
}

function pathsInside(value: unknown, path: string, table: FieldTable): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, i) => isObject(item) ? pathsOf(item, table, `${path}[${i}].`) : []);
  }
  return isObject(value) ? pathsOf(value, table, `${path}.`) : [];
}

function wrongsOf(value: unknown, free: FreeKind | undefined): unknown[] {
  const text = `${SECRET} text`;
  switch (free ?? (Array.isArray(value) ? "list" : typeof value === "number" ? "integer" : typeof value)) {
    case "json":
      return [];
    case "schema":
      return [null, 7, text, [], [text]];
    case "number":
      return [null, text, "1", true, [], {}, -0.5];
    case "integer":
      return [null, text, "1", true, [], {}, 1.5, -21, 2 ** 53];
    case "string":
      return [null, 7, true, [text], { toString: text }];
    case "boolean":
      return [null, 0, 1, "true", [], { [SECRET]: 1 }];
    case "list":
      return [null, 7, text, true, { length: 1, [SECRET]: 1 }];
    default:
      return [null, 7, text, [], [text], true];
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function valueAt(message: Json, path: string): unknown {
  const { holder, key } = placeOf(message, path);
  return holder[key];
}

function placeOf(message: Json, path: string): { holder: Json; key: string } {
  const steps = path.replaceAll(/\[(\d+)\]/g, ".$1").split(".");
  const key = steps.pop()!;
  return { holder: steps.reduce((at, step) => at[step] as Json, message), key };
}
