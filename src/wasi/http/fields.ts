import { bytesOf, hasControl, isToken, latin1 } from "../net/head.ts";

/** One field: the name as it was written, and the bytes of its value. */
export type FieldEntry = [name: string, value: Uint8Array];

/** `header-error`, thrown as a value. */
export type HeaderError = { readonly tag: "invalid-syntax" | "forbidden" | "immutable" };

/** Most bytes of one `fields`, names and values together; more is a trap, since no case of `header-error` says it. */
const MAX_FIELDS_BYTES = 262_144;

/** What a message says of its own connection (RFC 9110 §7.6.1), or the host says for the guest. */
const FORBIDDEN: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization"],
  ...["transfer-encoding", "te", "upgrade", "host", "http2-settings"],
]);

/** The entries of a `fields`, as they are; for this room alone. */
export let entriesOf: (fields: Fields) => readonly FieldEntry[];
/** A `fields` of what came from outside, which a guest cannot change. */
export let receivedFields: (entries: readonly (readonly [string, string])[]) => Fields;
/** Makes a `fields` one that a guest cannot change: it belongs to a message now. */
export let freeze: (fields: Fields) => void;

/** `fields` of `wasi:http/types`. Every argument is checked, since a component declares its own import types. */
export class Fields {
  #entries: FieldEntry[] = [];
  #isFrozen = false;

  static {
    entriesOf = (fields) => fields.#entries;
    receivedFields = (entries) => {
      const fields = new Fields();
      fields.#entries = entries.map(([name, value]) => [name, bytesOf(value)]);
      fields.#isFrozen = true;
      return fields;
    };
    freeze = (fields) => {
      fields.#isFrozen = true;
    };
  }

  static fromList(entries: readonly FieldEntry[]): Fields {
    const fields = new Fields();
    for (const [name, value] of requireList(entries)) fields.append(name, value);
    return fields;
  }

  get(name: string): Uint8Array[] {
    const key = lower(name);
    return this.#entries.filter(([found]) => lower(found) === key).map(([, value]) => value);
  }

  has(name: string): boolean {
    const key = lower(name);
    return this.#entries.some(([found]) => lower(found) === key);
  }

  set(name: string, values: readonly Uint8Array[]): void {
    this.#check(name);
    const checked = requireList(values).map(checkValue);
    const key = lower(name);
    const kept = this.#entries.filter(([found]) => lower(found) !== key);
    this.#replace([...kept, ...checked.map((value): FieldEntry => [name, value])]);
  }

  delete(name: string): void {
    this.#check(name);
    const key = lower(name);
    this.#entries = this.#entries.filter(([found]) => lower(found) !== key);
  }

  append(name: string, value: Uint8Array): void {
    this.#check(name);
    this.#replace([...this.#entries, [name, checkValue(value)]]);
  }

  entries(): FieldEntry[] {
    return this.#entries.map(([name, value]) => [name, value]);
  }

  clone(): Fields {
    const fields = new Fields();
    fields.#entries = this.entries();
    return fields;
  }

  #check(name: string): void {
    if (this.#isFrozen) throw { tag: "immutable" } satisfies HeaderError;
    if (typeof name !== "string" || !isToken(name)) throw { tag: "invalid-syntax" } satisfies HeaderError;
    const key = lower(name);
    if (FORBIDDEN.has(key) || key.startsWith("x-boll-")) throw { tag: "forbidden" } satisfies HeaderError;
  }

  #replace(entries: FieldEntry[]): void {
    const bytes = entries.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
    if (bytes > MAX_FIELDS_BYTES) throw new Error(`Add a field: more than ${MAX_FIELDS_BYTES} bytes in one fields`);
    this.#entries = entries;
  }
}

/** The values of a field as text, one character per byte. */
export function textsOf(entries: readonly FieldEntry[], name: string): string[] {
  return entries.filter(([found]) => lower(found) === name).map(([, value]) => latin1(value));
}

/** @throws TypeError when a guest gave another kind of resource */
export function requireFields(fields: Fields): Fields {
  if (!(fields instanceof Fields)) throw new TypeError("Take fields: found another type");
  return fields;
}

function checkValue(value: Uint8Array): Uint8Array {
  if (!(value instanceof Uint8Array)) throw new TypeError("Take a field value: found another type than list<u8>");
  if (hasControl(latin1(value))) throw { tag: "invalid-syntax" } satisfies HeaderError;
  return value.slice();
}

function requireList<T>(list: readonly T[]): readonly T[] {
  if (!Array.isArray(list)) throw new TypeError("Take a list: found another type");
  return list;
}

function lower(name: string): string {
  return typeof name === "string" ? name.toLowerCase() : "";
}
