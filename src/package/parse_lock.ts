import { CapsuleError, printableLine } from "../base/mod.ts";
import { CAPSULE_NAME, MAX_VERSION, SEMVER } from "../manifest/mod.ts";
import type { LockEntry } from "./lock.ts";
import { findRepeatedKeys } from "./repeated_keys.ts";

/** More problems than this are counted, not listed. */
const MAX_LISTED = 100;
const MAX_PATH = 4_096;

const DIGEST = /^sha256:[0-9a-f]{64}$/;

/**
 * Reads a lock's text; `file` names it in messages. All that is wrong is reported at once.
 * @throws {CapsuleError} `lock.invalid`
 */
export function parseLock(text: string, file: string): ReadonlyMap<string, LockEntry> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refuseLock(file, ["found no JSON (were two versions of it merged?)"], error);
  }
  const problems = findRepeatedKeys(text).map((path) => `${path}: found it twice`);
  const entries = new Map<string, LockEntry>();
  if (!isRecord(value)) problems.push(`found ${describe(value)}, wanted an object`);
  else {
    problems.push(...unknownKeys(value, ["version", "capsules"], ""));
    if (value["version"] !== 1) problems.push(`version: found ${describe(value["version"])}, wanted 1`);
    if (isRecord(value["capsules"])) {
      for (const [name, entry] of Object.entries(value["capsules"])) {
        const wrong = problemsOfEntry(name, entry);
        problems.push(...wrong);
        if (wrong.length === 0) entries.set(name, entry as LockEntry);
      }
    } else problems.push(`capsules: found ${describe(value["capsules"])}, wanted an object`);
  }
  if (problems.length > 0) throw refuseLock(file, problems);
  return entries;
}

function problemsOfEntry(name: string, entry: unknown): string[] {
  const at = `capsules.${name}`;
  const problems = CAPSULE_NAME.test(name) ? [] : [`${at}: no capsule has this name, wanted 1 to 64 of a-z 0-9 -`];
  if (!isRecord(entry)) return [...problems, `${at}: found ${describe(entry)}, wanted an object`];
  const wanted: readonly (readonly [key: string, isRight: (text: string) => boolean, what: string])[] = [
    ["version", (text) => text.length <= MAX_VERSION && SEMVER.test(text), "a semantic version"],
    ["digest", (text) => DIGEST.test(text), "sha256: and 64 hex digits"],
    ["path", isPathBelow, "a folder below this file's, without '.' and '..'"],
  ];
  for (const [key, isRight, what] of wanted) {
    const value = Object.hasOwn(entry, key) ? entry[key] : undefined;
    if (typeof value === "string" && isRight(value)) continue;
    problems.push(`${at}.${key}: found ${describe(value)}, wanted ${what}`);
  }
  return [...problems, ...unknownKeys(entry, wanted.map(([key]) => key), `${at}.`)];
}

/** Whether it names a folder strictly below another, in the one way to write it. */
function isPathBelow(path: string): boolean {
  const segments = path.split("/");
  return path.length <= MAX_PATH && !path.includes("\0") &&
    segments.every((segment) => segment !== "" && segment !== "." && segment !== "..");
}

function unknownKeys(value: Readonly<Record<string, unknown>>, known: readonly string[], at: string): string[] {
  return Object.keys(value).filter((key) => !known.includes(key)).map((key) =>
    `${at}${key}: unknown key, allowed: ${known.join(", ")}`
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "an array";
  return isRecord(value) ? "an object" : printableLine(JSON.stringify(value), 100);
}

function refuseLock(file: string, problems: readonly string[], cause?: unknown): CapsuleError {
  const shown = printableLine(file);
  const lines = problems.slice(0, MAX_LISTED).map((problem) => `${shown}: ${printableLine(problem)}`);
  if (problems.length > MAX_LISTED) lines.push(`… and ${problems.length - MAX_LISTED} more`);
  const fix = "correct it, or remove it and run `boll lock`";
  const message = lines.length === 1
    ? `Read ${lines[0]}; ${fix}`
    : `Read ${shown}: found ${problems.length} problems; ${fix}`;
  return new CapsuleError("lock.invalid", message, { problems: lines, cause });
}
