import { CapsuleError } from "../base/mod.ts";

/** Bounds of a list or text field. */
export interface FieldBounds {
  readonly max: number;
}

/** Bounds of an integer field, both inclusive; default 0 to 2^53-1. */
export interface IntegerBounds {
  readonly min?: number;
  readonly max?: number;
}

/**
 * Reads the fields of one decoded object by name and kind. Own properties only, so that `__proto__` and
 * `constructor` are never found by inheritance. Every reader throws `protocol.bad_field`, naming the dotted path and
 * what was wanted, never the value.
 */
export class Fields {
  readonly #value: Record<string, unknown>;
  readonly #path: string;

  constructor(value: unknown, path: string) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw badField(path, "an object");
    this.#value = value as Record<string, unknown>;
    this.#path = path;
  }

  #get(name: string): unknown {
    return Object.hasOwn(this.#value, name) ? this.#value[name] : undefined;
  }

  /** Says that the field is not what was wanted. */
  fail(name: string, wanted: string): never {
    throw badField(this.pathOf(name), wanted);
  }

  /** The dotted path of the field. */
  pathOf(name: string): string {
    return `${this.#path}.${name}`;
  }

  /** Whether the field is there (`null` counts as there). */
  has(name: string): boolean {
    return this.#get(name) !== undefined;
  }

  /** A text of at most `max` characters (default 65 536). */
  string(name: string, bounds: FieldBounds = { max: 65_536 }): string {
    const value = this.#get(name);
    if (typeof value !== "string") this.fail(name, "a text");
    if (value.length > bounds.max) this.fail(name, `a text of at most ${bounds.max} characters`);
    return value;
  }

  /** One of the given words. */
  oneOf<T extends string>(name: string, words: readonly T[]): T {
    const value = this.#get(name);
    const found = words.find((word) => word === value);
    return found ?? this.fail(name, `one of ${words.join(", ")}`);
  }

  /** An integer within the bounds; never one that a double cannot hold. */
  integer(name: string, { min = 0, max = Number.MAX_SAFE_INTEGER }: IntegerBounds = {}): number {
    const value = this.#get(name);
    if (!Number.isSafeInteger(value) || (value as number) < min || (value as number) > max) {
      this.fail(name, `an integer from ${min} to ${max === Number.MAX_SAFE_INTEGER ? "2^53-1" : max}`);
    }
    return value as number;
  }

  /** true or false. */
  boolean(name: string): boolean {
    const value = this.#get(name);
    if (typeof value !== "boolean") this.fail(name, "true or false");
    return value;
  }

  /** A list of at most `max` items (default 100 000), each decoded by `decode` with its path. */
  list<T>(name: string, decode: (item: unknown, path: string) => T, bounds: FieldBounds = { max: 100_000 }): T[] {
    const value = this.#get(name);
    if (!Array.isArray(value)) this.fail(name, "a list");
    if (value.length > bounds.max) this.fail(name, `a list of at most ${bounds.max}`);
    return value.map((item, i) => decode(item, `${this.pathOf(name)}[${i}]`));
  }

  /** A nested object. */
  object(name: string): Fields {
    return new Fields(this.#get(name), this.pathOf(name));
  }

  /** The field as it is; whoever takes it decodes it. */
  raw(name: string): unknown {
    return this.#get(name);
  }

  /** `read()` when the field is there, else nothing: `...optional` spreads it into a value without `undefined`s. */
  optional<K extends string, T>(name: K, read: (name: K) => T): { [P in K]?: T } {
    return this.has(name) ? { [name]: read(name) } as { [P in K]?: T } : {};
  }

  /** `read()` when the field is there, else the default. */
  orElse<T>(name: string, missing: T, read: (name: string) => T): T {
    return this.has(name) ? read(name) : missing;
  }
}

/** A text item of a list. */
export function textItem(item: unknown, path: string): string {
  if (typeof item !== "string") throw badField(path, "a text");
  return item;
}

/** A pair of texts. */
export function pairItem(item: unknown, path: string): [string, string] {
  if (!Array.isArray(item) || item.length !== 2) throw badField(path, "a pair of texts");
  return [textItem(item[0], `${path}[0]`), textItem(item[1], `${path}[1]`)];
}

/** The fault of a field: the one form of it. */
export function badField(path: string, wanted: string): CapsuleError {
  return new CapsuleError("protocol.bad_field", `Read a message: ${path} is not ${wanted}`);
}
