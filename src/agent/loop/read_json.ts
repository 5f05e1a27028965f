import { isShallow } from "./bounded_json.ts";

/** A JSON value, or none. */
export type FoundJson = { readonly value: unknown } | undefined;

const FENCED = /```[^\n`]*\n([\s\S]*?)```/g;
/** Places in a text at which a value may begin that are tried. */
const MAX_STARTS = 64;

/**
 * The JSON value that a model's text holds: the whole text, else a fenced code block, else the first object or list in it.
 * What nests too deep is none.
 */
export function readJson(text: string): FoundJson {
  const whole = parse(text);
  if (whole !== undefined) return whole;
  for (const [, block] of text.matchAll(FENCED)) {
    const found = parse(block!);
    if (found !== undefined) return found;
  }
  return firstValue(text);
}

function parse(text: string): FoundJson {
  try {
    const value: unknown = JSON.parse(text);
    return isShallow(value) ? { value } : undefined;
  } catch {
    return undefined;
  }
}

function firstValue(text: string): FoundJson {
  let starts = 0;
  for (let at = 0; at < text.length && starts < MAX_STARTS; at++) {
    if (text[at] !== "{" && text[at] !== "[") continue;
    starts++;
    const end = endOfValue(text, at);
    const found = end === undefined ? undefined : parse(text.slice(at, end));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Where the brackets that open at `start` are all closed. */
function endOfValue(text: string, start: number): number | undefined {
  let depth = 0;
  let inText = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (inText) {
      if (character === "\\") at++;
      else if (character === '"') inText = false;
    } else if (character === '"') inText = true;
    else if (character === "{" || character === "[") depth++;
    else if ((character === "}" || character === "]") && --depth === 0) return at + 1;
  }
  return undefined;
}
