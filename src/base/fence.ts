/** Whose words a block holds: a tool's, a task's (by its origin), a skill's, a delegated capsule's, a peer's, a file's. */
export interface ForeignSource {
  readonly kind: "tool" | "task" | "skill" | "delegation" | "peer" | "file";
  /** Kept: `[A-Za-z0-9._-]`, at most 64; the rest is `_`. */
  readonly name: string;
}

const TAG = "untrusted-content";
const MAX_NAME_LENGTH = 64;

// What a reader does not see, and a model may read over: format characters, fillers, variation selectors, controls.
const UNSEEN = String.raw`\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}`;
const DASH = String.raw`[\p{Pd}\u2212]`;
const LETTERS = Array.from(TAG, (letter) => letter === "-" ? DASH : letter).join(String.raw`[\s${UNSEEN}]*`);

let lookAlike: RegExp | undefined;

/**
 * Foreign text as data: one opener, the text, one closer. Each `<` in it that begins a look-alike of
 * either becomes `‹`. What the runtime itself says is never fenced.
 */
export function fence({ kind, name }: ForeignSource, text: string): string {
  return `<${TAG} source=${kind}:${sourceName(name)}>\n${withoutFences(text)}\n</${TAG}>`;
}

/** A text of the runtime's that quotes a name or a pattern which another wrote: none of it looks like a fence. */
export function withoutFences(text: string): string {
  // Not before it is needed: the engine takes 2 ms for it, and most processes fence nothing.
  lookAlike ??= new RegExp(String.raw`<(?=[\s/${UNSEEN}]*${LETTERS})`, "giu");
  return text.replace(lookAlike, "‹");
}

function sourceName(name: string): string {
  const kept = Array.from(name).slice(0, MAX_NAME_LENGTH).join("").replace(/[^A-Za-z0-9._-]/gu, "_");
  return kept === "" ? "_" : kept;
}
