// Controls (escape, C0, C1, DEL), invisible formatting (bidi, zero-width, tags), separators, lone surrogates.
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * Foreign text made safe for a terminal: each control, escape, bidi or invisible character becomes a visible
 * `\u{…}`. Tab and newline stay; {@link printableLine} replaces those too.
 */
export function printable(text: string): string {
  return text.replace(UNSAFE, (found) => (found === "\n" || found === "\t" ? found : escape(found)));
}

/** {@link printable} on one line, cut at `maxLength` characters (default 500) with an ellipsis. */
export function printableLine(text: string, maxLength = 500): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return cut.replace(UNSAFE, escape);
}

/**
 * The JSON text of a value on one line, safe for a terminal: what {@link printable} would replace stands as `\\u…`,
 * which a JSON reader takes for the same text. `indent` (spaces) spreads it over lines.
 */
export function printableJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, null, indent) ?? "null";
  return json.replace(UNSAFE, (found) => (found === "\n" ? found : escapeJson(found)));
}

function escapeJson(character: string): string {
  return Array.from(character.split(""), (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
}

function escape(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`;
}
