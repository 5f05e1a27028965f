import { MAX_JSON_DEPTH } from "../../../protocol/control/mod.ts";

/** The most that arguments may take in a frame, by its own count. */
const MAX_BYTES = 1024 * 1024;

/** Characters of arguments that cannot be passed on, not even as a text. */
export const MAX_ARGUMENTS_LENGTH = MAX_BYTES - 1024;

/**
 * What a model wrote as arguments: the value, or the text itself where that is no JSON, nests too deep or would be too
 * much for a frame as a value.
 */
export function readArguments(text: string): unknown {
  if (text.trim() === "") return {};
  if (!isTame(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Told without parsing it: what nests deep is a danger to whoever walks it. */
function isTame(text: string): boolean {
  let [depth, values] = [0, 1];
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === '"') {
      for (i++; i < text.length && text[i] !== '"'; i++) if (text[i] === "\\") i++;
    } else if (character === "{" || character === "[") {
      values++;
      if (++depth > MAX_JSON_DEPTH) return false;
    } else if (character === "}" || character === "]") depth--;
    else if (character === ",") values++;
  }
  return text.length + 16 * values <= MAX_BYTES;
}
