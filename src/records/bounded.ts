/** Longest string kept in one field of a trace event, UTF-16 units. */
export const MAX_FIELD_LENGTH = 4096;
/** Most entries kept of one list or object. */
export const MAX_FIELD_ENTRIES = 1000;

const MAX_DEPTH = 12;
const MARK = " … [truncated]";

/** A string cut at `maxLength` UTF-16 units, never inside a character, with a mark that says so. */
export function boundedText(text: string, maxLength = MAX_FIELD_LENGTH): string {
  if (text.length <= maxLength) return text;
  const before = text.charCodeAt(maxLength - 1);
  const splitsPair = before >= 0xd800 && before <= 0xdbff;
  return text.slice(0, splitsPair ? maxLength - 1 : maxLength) + MARK;
}

/** A JSON-safe copy of a value with every string, list, object and depth bounded: foreign data never grows a line without end. */
export function boundedValue(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return boundedText(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return MARK.trim();
  if (Array.isArray(value)) {
    const kept = value.slice(0, MAX_FIELD_ENTRIES).map((entry) => boundedValue(entry, depth + 1));
    if (value.length > MAX_FIELD_ENTRIES) kept.push(MARK.trim());
    return kept;
  }
  const entries = Object.entries(value);
  const kept: [string, unknown][] = entries.slice(0, MAX_FIELD_ENTRIES)
    .map(([key, entry]) => [boundedText(key, 256), boundedValue(entry, depth + 1)]);
  if (entries.length > MAX_FIELD_ENTRIES) kept.push(["…", MARK.trim()]);
  return Object.fromEntries(kept);
}
