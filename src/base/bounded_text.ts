/** The longest detail or stderr tail that a record keeps, bytes. */
export const MAX_DETAIL_BYTES = 2_000;

const CUT = " […]";
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The text, or its first bytes up to a character's end and the mark of the cut, together at most `maxBytes`. */
export function boundedHead(text: string, maxBytes = MAX_DETAIL_BYTES): string {
  const whole = encoder.encodeInto(text, new Uint8Array(maxBytes)).read;
  if (whole === text.length) return text;
  return `${text.slice(0, encoder.encodeInto(text, new Uint8Array(maxBytes - encoder.encode(CUT).length)).read)}${CUT}`;
}

/** The last bytes of the text from a character's beginning on, at most `maxBytes`. */
export function boundedTail(text: string, maxBytes = MAX_DETAIL_BYTES): string {
  const bytes = encoder.encode(text);
  let from = Math.max(0, bytes.length - maxBytes);
  while (from < bytes.length && (bytes[from]! & 0xc0) === 0x80) from++;
  return decoder.decode(bytes.subarray(from));
}
