import { CapsuleError } from "./errors.ts";

/** What a host lacks, by the number of the system's error, and what a person can do about it. */
const HINTS: Readonly<Record<number, string>> = {
  1: "the user that runs boll may not do that",
  5: "the disk fails",
  11: "raise the limit of processes (`ulimit -u`), or end some",
  12: "free memory",
  13: "the user that runs boll may not do that",
  23: "the whole system has too many files open: close some",
  24: "raise the limit of open files (`ulimit -n`)",
  27: "raise the limit of a file's size (`ulimit -f`)",
  28: "free space there",
  30: "it is mounted read-only: write elsewhere",
  122: "free space there: the quota is used up",
};

const NOT_UTF8 = "rename it: boll can name only what is UTF-8";

/** What a person can do about an error of the system; nothing when it is not the host that lacks something. */
export function hostHint(error: unknown): string | undefined {
  const message = error instanceof Error ? error.message : "";
  if (/is not valid UTF-8$/.test(message)) return NOT_UTF8;
  const number = systemErrorOf(error, message);
  return number === undefined ? undefined : HINTS[number];
}

/** Deno says the number in its words, what comes from `node:fs` beside them. */
function systemErrorOf(error: unknown, message: string): number | undefined {
  const [, number] = /\(os error (\d+)\)/.exec(message) ?? [];
  if (number !== undefined) return Number(number);
  const { errno } = (error ?? {}) as { readonly errno?: unknown };
  return typeof errno === "number" ? Math.abs(errno) : undefined;
}

/**
 * An error that the host is the reason of (a full disk, a limit, a read-only place) as `host.failed`, wherever in the
 * program it came up: it is no mistake of boll's. Any other error stays what it is. Where cleaning up failed as well,
 * the first of the two counts.
 */
export function asHostFailure(error: unknown): unknown {
  if (error instanceof SuppressedError) return asHostFailure(error.suppressed);
  const hint = error instanceof CapsuleError ? undefined : hostHint(error);
  if (hint === undefined) return error;
  return new CapsuleError("host.failed", `Use this host: ${(error as Error).message}; ${hint}`, { cause: error });
}
