/** The most values one frame's JSON may hold: as objects they are some ten times the bytes that they came in. */
export const MAX_FRAME_VALUES = 500_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Whether the JSON has more than {@link MAX_FRAME_VALUES} values, told without parsing it: parsed, 16 MiB of `{},{},`
 * would be half a gigabyte, and seconds of a thread that others wait for. A payload that is too short for so many costs
 * nothing.
 */
export function holdsTooManyValues(json: Uint8Array): boolean {
  if (json.length <= 2 * MAX_FRAME_VALUES) return false;
  let values = 1;
  for (let i = 0; i < json.length; i++) {
    const byte = json[i];
    if (byte === QUOTE) i = endOfText(json, i);
    // A value follows a comma or an opening bracket, or is the first; an empty list counts twice.
    else if (byte === 0x2c || byte === 0x5b || byte === 0x7b) values++;
    if (values > MAX_FRAME_VALUES) return true;
  }
  return false;
}

function endOfText(json: Uint8Array, start: number): number {
  let i = start + 1;
  while (i < json.length && json[i] !== QUOTE) i += json[i] === BACKSLASH ? 2 : 1;
  return i;
}
