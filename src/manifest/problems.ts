import type * as z from "zod/mini";
import { CapsuleError, closest, type ErrorCode, printableLine } from "../base/mod.ts";
import { findCredential } from "./credentials.ts";
import { joinPath, type Problem, type ReadDocument } from "./document.ts";
import { isLaterKey } from "./later_keys.ts";

/** More problems than this are counted, not listed. */
const MAX_LISTED = 100;
/** The longest message that is shown whole, characters. */
const MAX_MESSAGE = 2_000;

type Issue = z.core.$ZodIssue;

/** Keys known at a path of the schema; empty where it is no object. */
export type KeysAt = (path: readonly PropertyKey[]) => readonly string[];

/** Every issue of the schema as problems with a place. */
export function describeIssues(issues: readonly Issue[], document: ReadDocument, keysAt: KeysAt): Problem[] {
  return issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => describeUnknownKey(key, issue.path, document, keysAt))
      : [describeIssue(issue, document)]
  );
}

function describeIssue(issue: Issue, document: ReadDocument): Problem {
  const path = toPath(issue.path);
  const found = valueAt(document.value, issue.path);
  const message = found === undefined
    ? `missing, wanted ${describeAllowed(issue)}`
    : `found ${describeFound(found)}, allowed: ${describeAllowed(issue)}`;
  return { offset: document.offsetOf(path), path, message };
}

function describeUnknownKey(key: string, at: readonly PropertyKey[], document: ReadDocument, keysAt: KeysAt): Problem {
  const exact = joinPath(toPath(at), key);
  const offset = document.offsetOf(exact);
  if (isLaterKey(exact)) {
    return { offset, path: exact, message: "not supported yet; remove it, it would have no effect" };
  }
  const known = keysAt(at);
  const meant = closest(key, known);
  const hint = meant === undefined ? `allowed: ${known.join(", ")}` : `did you mean ${JSON.stringify(meant)}?`;
  return { offset, path: exact, message: `unknown key, ${hint}` };
}

/** What a value is, in words that never hold a credential. */
export function describeFound(value: unknown): string {
  if (typeof value === "string") {
    const credential = findCredential(value);
    if (credential !== undefined) return `${credential} (${value.length} characters, not shown)`;
    return printableLine(JSON.stringify(value), 80);
  }
  if (Array.isArray(value)) return value.length === 0 ? "an empty array" : `an array of ${value.length}`;
  if (value === null || typeof value !== "object") return String(value);
  return "an object";
}

const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "an array",
  object: "an object",
  record: "an object",
};

function describeAllowed(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return TYPES[issue.expected] ?? issue.expected;
    case "invalid_value":
      return issue.values.map((value) => JSON.stringify(value)).join(" or ");
    case "too_small":
      return `at least ${issue.minimum}${unit(issue.origin)}`;
    case "too_big":
      return `at most ${issue.maximum}${unit(issue.origin)}`;
    default:
      return issue.message;
  }
}

function unit(origin: string): string {
  return origin === "string" ? " characters" : origin === "array" ? " elements" : "";
}

function toPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => joinPath(text, typeof step === "number" ? step : String(step)), "");
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const step of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Record<PropertyKey, unknown>)[step];
  }
  return at;
}

/** The error that holds every problem in the order of the file, each as `file:line:column: path: message`. */
export function refuseFile(
  code: ErrorCode,
  file: string,
  document: ReadDocument,
  problems: readonly Problem[],
): CapsuleError {
  const sorted = [...problems].sort((one, other) => one.offset - other.offset);
  const lines = sorted.slice(0, MAX_LISTED).map((problem) => {
    const { line, column } = document.placeOf(problem.offset);
    const path = findCredential(problem.path) === undefined ? printableLine(problem.path, 160) : "(not shown)";
    return `${printableLine(file)}:${line}:${column}: ${path === "" ? "" : `${path}: `}${
      printableLine(problem.message, MAX_MESSAGE)
    }`;
  });
  if (sorted.length > MAX_LISTED) lines.push(`… and ${sorted.length - MAX_LISTED} more`);
  if (sorted.length === 1) return new CapsuleError(code, lines[0]!, { problems: lines });
  return new CapsuleError(code, `Read ${printableLine(file)}: found ${sorted.length} problems`, { problems: lines });
}
