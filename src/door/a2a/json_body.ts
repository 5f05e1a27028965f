/** The most values that a body's JSON may hold, and how deep: parsed, they are some ten times the bytes that they came in. */
const MAX_VALUES = 100_000;
const MAX_DEPTH = 64;

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** A body as JSON, or what is wrong with it in a few words that repeat none of it. */
export type JsonBody = { readonly ok: true; readonly value: unknown } | {
  readonly ok: false;
  readonly message: string;
};

/** Parses a body that was checked for its size alone. */
export function parseJsonBody(bytes: Uint8Array): JsonBody {
  const fault = shapeFault(bytes);
  if (fault !== undefined) return { ok: false, message: fault };
  try {
    return { ok: true, value: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) };
  } catch {
    return { ok: false, message: "the body is no JSON in UTF-8" };
  }
}

function shapeFault(json: Uint8Array): string | undefined {
  let [values, depth] = [1, 0];
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]!;
    if (byte === QUOTE) at = endOfText(json, at);
    else if (byte === COMMA) values++;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) [values, depth] = [values + 1, depth + 1];
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--;
    if (values > MAX_VALUES) return `the body holds more than ${MAX_VALUES} values`;
    if (depth > MAX_DEPTH) return `the body is nested deeper than ${MAX_DEPTH}`;
  }
  return undefined;
}

function endOfText(json: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at;
}
