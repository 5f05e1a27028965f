import type { WireReader } from "./wire.ts";

/** The longest head that is read, bytes. */
export const MAX_HEAD_BYTES = 65_536;

/** The first line of a message, and its fields; each character is one byte. */
export interface Head {
  readonly line: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** Thrown at bytes that are no head. */
export class HeadFault extends Error {
  override readonly name = "HeadFault";
  readonly kind: "syntax" | "size" | "end";

  constructor(kind: "syntax" | "size" | "end") {
    super(`Read a head: ${kind}`);
    this.kind = kind;
  }
}

/**
 * Takes the next head from a wire. Strict (RFC 9112 §2.2, §5): lines end in CR LF, none is folded, names are tokens.
 * @throws HeadFault
 */
export async function readHead(reader: WireReader): Promise<Head> {
  for (let from = 0;;) {
    const bytes = reader.buffered;
    const end = findEnd(bytes, from);
    if (end !== undefined) {
      const head = parseHead(latin1(bytes.subarray(0, end - 4)));
      reader.take(end);
      return head;
    }
    if (bytes.length >= MAX_HEAD_BYTES) throw new HeadFault("size");
    from = Math.max(bytes.length - 3, 0);
    if (!await reader.fill()) throw new HeadFault("end");
  }
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// deno-lint-ignore no-control-regex -- exactly what no value may hold
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/;

/** Whether a text is a token (RFC 9110 §5.6.2). */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** Whether bytes, one per character, hold what no field value may (RFC 9110 §5.5): CR, LF, NUL, other controls. */
export function hasControl(text: string): boolean {
  return CONTROL.test(text);
}

/** Bytes to characters, one by one. */
export function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return text;
}

/** Characters to bytes, one by one. */
export function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** The values of a field, by its name in lower case. */
export function valuesOf(fields: Head["fields"], name: string): string[] {
  return fields.filter(([found]) => found.toLowerCase() === name).map(([, value]) => value);
}

function findEnd(bytes: Uint8Array, from: number): number | undefined {
  for (let at = bytes.indexOf(13, from); at >= 0 && at + 3 < bytes.length; at = bytes.indexOf(13, at + 1)) {
    if (bytes[at + 1] === 10 && bytes[at + 2] === 13 && bytes[at + 3] === 10) return at + 4;
  }
  return undefined;
}

function parseHead(text: string): Head {
  const [line = "", ...rest] = text.split("\r\n");
  if (line === "" || hasControl(line)) throw new HeadFault("syntax");
  return { line, fields: rest.map(parseField) };
}

function parseField(field: string): readonly [string, string] {
  const colon = field.indexOf(":");
  const name = field.slice(0, Math.max(colon, 0));
  if (!isToken(name) || hasControl(field)) throw new HeadFault("syntax");
  return [name, trimBlanks(field.slice(colon + 1))];
}

// By index: a pattern would take quadratic time on long runs of blanks.
function trimBlanks(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}
