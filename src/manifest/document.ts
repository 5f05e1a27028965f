import { createScanner, type Node, type ParseError, parseTree } from "jsonc-parser";
import { parse } from "@std/jsonc";
import type { Positions } from "./manifest.ts";

/** Something wrong in a file, at an offset (UTF-16 units) of its text. `path` is dotted; empty is the whole file. */
export interface Problem {
  readonly offset: number;
  readonly path: string;
  readonly message: string;
}

/** A file of JSON with comments, read. `syntax` problems leave no value; `duplicates` are reported beside others. */
export interface ReadDocument {
  readonly value: unknown;
  readonly syntax: readonly Problem[];
  readonly duplicates: readonly Problem[];
  readonly positions: Positions;
  /** The offset of the key (of the value, for an element) at `path` or of its nearest written ancestor. */
  offsetOf(path: string): number;
  /** Line and column of an offset, both from 1. */
  placeOf(offset: number): { readonly line: number; readonly column: number };
}

/** Deeper nesting is refused: both readers recurse, and nothing in a manifest needs it. */
export const MAX_DEPTH = 32;

/** The scanner's kinds that matter here; its own names are an ambient enum, which modules cannot use. */
const TOKEN = { openBrace: 1, closeBrace: 2, openBracket: 3, closeBracket: 4, end: 17 } as const;

const SYNTAX_PROBLEMS: Readonly<Record<number, string>> = {
  1: "found something that is no JSON value",
  2: "found a number that is not written as JSON wants",
  3: "expected a key in double quotes",
  4: "expected a value",
  5: "expected ':'",
  6: "expected ','",
  7: "expected '}'",
  8: "expected ']'",
  9: "expected the end of the file",
  11: "found a comment without its end",
  12: "found a string without its end",
  13: "found a number without its end",
  14: "found a broken \\u escape",
  15: "found an escape that JSON does not have",
  16: "found a control character in a string",
};

/**
 * Reads `text` twice: the value comes from `@std/jsonc`, positions and duplicate keys from `jsonc-parser`. Where the
 * two disagree about the value the file is refused, so that nobody can show one manifest and run another.
 */
export function readDocument(text: string): ReadDocument {
  const offsets = new Map<string, number>();
  const lines = lineStarts(text);
  const place = (offset: number) => placeIn(lines, offset);
  const document = (value: unknown, syntax: readonly Problem[], duplicates: readonly Problem[]): ReadDocument => ({
    value,
    syntax,
    duplicates,
    positions: {
      lineOf: (path) => place(nearest(offsets, path)).line,
      at: (path) => place(nearest(offsets, path)),
      has: (path) => offsets.has(path),
    },
    offsetOf: (path) => nearest(offsets, path),
    placeOf: place,
  });
  const early = findEarly(text);
  if (early !== undefined) return document(undefined, [early], []);
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  if (errors.length > 0 || tree === undefined) return document(undefined, describeErrors(errors), []);
  const duplicates: Problem[] = [];
  const seen = walk(tree, "", { offsets, duplicates, place });
  const value = readValue(text);
  if (value === DISAGREE || JSON.stringify(value) !== JSON.stringify(seen)) {
    const message = "the two readers of this file do not agree on what it says; write it as plain JSON";
    return document(undefined, [{ offset: 0, path: "", message }], []);
  }
  return document(value, [], duplicates);
}

const DISAGREE = Symbol("the readers disagree");

function readValue(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return DISAGREE;
    throw error;
  }
}

/** What must be refused before a recursive reader sees the text. */
function findEarly(text: string): Problem | undefined {
  const at = (offset: number, message: string): Problem => ({ offset, path: "", message });
  if (text.charCodeAt(0) === 0xfeff) return at(0, "found a byte order mark, save the file without one");
  const nul = text.indexOf("\0");
  if (nul !== -1) return at(nul, "found a NUL character");
  const scanner = createScanner(text, true);
  let depth = 0;
  for (let kind: number = scanner.scan(); kind !== TOKEN.end; kind = scanner.scan()) {
    if (kind === TOKEN.openBrace || kind === TOKEN.openBracket) depth++;
    if (kind === TOKEN.closeBrace || kind === TOKEN.closeBracket) depth--;
    if (depth > MAX_DEPTH) return at(scanner.getTokenOffset(), `nested deeper than ${MAX_DEPTH} levels`);
  }
  return undefined;
}

function describeErrors(errors: readonly ParseError[]): Problem[] {
  // After the first error the reader guesses, and later ones are mostly its own echo.
  const first = errors[0];
  return [{
    offset: first?.offset ?? 0,
    path: "",
    message: SYNTAX_PROBLEMS[first?.error ?? 4] ?? "found no valid JSON",
  }];
}

interface Walk {
  readonly offsets: Map<string, number>;
  readonly duplicates: Problem[];
  readonly place: (offset: number) => { readonly line: number; readonly column: number };
}

/** Notes where everything stands, finds duplicate keys, and gives the value as this reader sees it. */
function walk(node: Node, path: string, notes: Walk): unknown {
  if (!notes.offsets.has(path)) notes.offsets.set(path, node.offset);
  if (node.type === "array") {
    return (node.children ?? []).map((child, index) => walk(child, `${path}[${index}]`, notes));
  }
  if (node.type !== "object") return node.value;
  const value: Record<string, unknown> = {};
  const first = new Map<string, number>();
  for (const property of node.children ?? []) {
    const [key, child] = property.children ?? [];
    if (key === undefined || child === undefined) continue;
    const name = String(key.value);
    const below = joinPath(path, name);
    const before = first.get(name);
    if (before === undefined) first.set(name, key.offset);
    else {
      const message = `duplicate key, first on line ${notes.place(before).line}; keep one`;
      notes.duplicates.push({ offset: key.offset, path: below, message });
    }
    notes.offsets.set(below, key.offset);
    const seen = walk(child, below, notes);
    Object.defineProperty(value, name, { value: seen, writable: true, enumerable: true, configurable: true });
  }
  return value;
}

/** One step of a dotted path: keys that are no plain names are quoted. */
export function joinPath(path: string, key: string | number): string {
  if (typeof key === "number") return `${path}[${key}]`;
  const step = /^[A-Za-z_$][\w$-]*$/.test(key) ? key : JSON.stringify(key);
  return path === "" ? step : `${path}.${step}`;
}

function nearest(offsets: ReadonlyMap<string, number>, path: string): number {
  for (let rest = path; rest !== ""; rest = rest.slice(0, Math.max(rest.lastIndexOf("."), rest.lastIndexOf("["), 0))) {
    const offset = offsets.get(rest);
    if (offset !== undefined) return offset;
  }
  return offsets.get("") ?? 0;
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function placeIn(starts: readonly number[], offset: number): { line: number; column: number } {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low + 1, column: offset - starts[low]! + 1 };
}
