/** Texts in which nothing is unsafe. */
const PLAIN = /^[\n\t -~]*$/;
const PLAIN_LINE = /^[ -~]*$/;

let unsafe: RegExp | undefined;

/**
 * Controls (escape, C0, C1, DEL), invisible formatting (bidi, zero-width, tags), separators, lone surrogates. Not before
 * it is needed: the engine takes 1 ms for its classes, and most processes see none of them.
 */
function unsafeCharacters(): RegExp {
  return unsafe ??= /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
}

/**
 * Foreign text made safe for a terminal: each control, escape, bidi or invisible character becomes a visible
 * `\u{…}`. Tab and newline stay; {@link printableLine} replaces those too.
 */
export function printable(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(unsafeCharacters(), (found) => (found === "\n" || found === "\t" ? found : escape(found)));
}

/** {@link printable} on one line, cut at `maxLength` characters (default 500) with an ellipsis. */
export function printableLine(text: string, maxLength = 500): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return PLAIN_LINE.test(cut) ? cut : cut.replace(unsafeCharacters(), escape);
}

/**
 * The JSON text of a value on one line, safe for a terminal: what {@link printable} would replace stands as `\\u…`,
 * which a JSON reader takes for the same text. `indent` (spaces) spreads it over lines.
 */
export function printableJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, null, indent) ?? "null";
  if (PLAIN.test(json)) return json;
  return json.replace(unsafeCharacters(), (found) => (found === "\n" ? found : escapeJson(found)));
}

function escapeJson(character: string): string {
  return Array.from(character.split(""), (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
}

function escape(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`;
}
