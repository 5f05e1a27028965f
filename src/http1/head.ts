import { HeadFault } from "./head_fault.ts";
import type { WireReader } from "./wire_reader.ts";

/** One header field: the name in lower case, the value without the space around it; each character is one byte. */
export type Field = readonly [name: string, value: string];

/** The first line of a message and its fields. */
export interface Head {
  readonly line: string;
  readonly fields: readonly Field[];
}

/**
 * The next head from a wire, taken from it; undefined when the stream ends before its first byte. Strict (RFC 9112 §2.2
 * and §5, without what it lets a reader forgive): lines end in CR LF, none is folded, no control characters.
 *
 * @throws {HeadFault} what was wrong, by name; the text itself is never repeated.
 */
export async function readHead(reader: WireReader, maxBytes: number): Promise<Head | undefined> {
  for (let scanned = 0;;) {
    const end = findHeadEnd(reader.buffered, scanned);
    if (end !== undefined && end <= maxBytes) {
      const text = latin1(reader.buffered.subarray(0, end - 4));
      reader.take(end);
      return parseHead(text);
    }
    scanned = reader.buffered.length;
    if (end !== undefined || scanned >= maxBytes) throw new HeadFault(`the head is longer than ${maxBytes} bytes`);
    if (!await reader.fill()) {
      if (scanned === 0) return undefined;
      throw new HeadFault("the stream ended within the head");
    }
  }
}

const [TAB, LF, CR, SPACE, DEL] = [9, 10, 13, 32, 127];

/**
 * The index after the empty line, undefined while there is none. What stands before `from` was scanned already.
 *
 * @throws {HeadFault} at the first byte that no head may hold.
 */
export function findHeadEnd(bytes: Uint8Array, from: number): number | undefined {
  for (let index = from; index < bytes.length; index++) {
    const byte = bytes[index]!;
    const before = index === 0 ? 0 : bytes[index - 1]!;
    if (before === CR && byte !== LF) throw new HeadFault("a carriage return without a line feed");
    if (byte === LF) {
      if (before !== CR) throw new HeadFault("a line feed without a carriage return");
      if (index >= 3 && bytes[index - 2] === LF) return index + 1;
    } else if ((byte < SPACE && byte !== TAB && byte !== CR) || byte === DEL) {
      throw new HeadFault("a control character in the head");
    }
  }
  return undefined;
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/**
 * A head's text, without its last empty line, to its parts.
 *
 * @throws {HeadFault} at a line that is no field.
 */
export function parseHead(text: string): Head {
  const [line = "", ...rest] = text.split("\r\n");
  if (line === "") throw new HeadFault("an empty first line");
  const fields = rest.map((field): Field => {
    const colon = field.indexOf(":");
    const name = field.slice(0, Math.max(colon, 0));
    // A folded line is none either: it begins with a blank.
    if (!TOKEN.test(name)) throw new HeadFault("a line that is no header field");
    return [name.toLowerCase(), trimSpace(field.slice(colon + 1))];
  });
  return { line, fields };
}

/** Whether a text is a token (RFC 9110 §5.6.2). */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** All values of a field. */
export function valuesOf(fields: readonly Field[], name: string): string[] {
  return fields.filter(([found]) => found === name).map(([, value]) => value);
}

/** A head as bytes, with the empty line. */
export function encodeHead(line: string, fields: readonly Field[]): Uint8Array {
  const text = [line, ...fields.map(([name, value]) => `${name}: ${value}`)].join("\r\n") + "\r\n\r\n";
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** Without the blanks around it. By index: a pattern that trims the end of a long run of blanks takes quadratic time. */
export function trimSpace(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

/** Bytes to characters one by one; `TextDecoder("latin1")` is another encoding (windows-1252). */
function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return text;
}
