import { appendLine, CapsuleError } from "../../base/mod.ts";
import type { Home } from "../folders/home.ts";
import { type SessionPaths, sessionPaths } from "../places.ts";
import { findSessionBegin } from "./session_begin.ts";
import { SessionLock } from "./session_lock.ts";
import { listSessions } from "./sessions.ts";
import { hasSummary, readSummary, summaryOf, writeSummary } from "./summary.ts";
import type { SessionEnd, TraceEvent } from "../trace/trace_events.ts";
import { findSessionEnd } from "../trace/trace_reader.ts";
import { traceLine } from "../trace/trace_writer.ts";

/** What became of a session, seen from outside. */
export type SessionState = "ended" | "running" | "crashed";

const CRASHED: SessionEnd = {
  status: "crashed",
  exit_code: 1,
  ended_by: "crashed",
  duration_ms: 0,
  detail: "the supervisor ended without a record",
};

/** Options of {@link markCrashed} and {@link markIfCrashed}. */
export interface MarkCrashedOptions {
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** The sessions to look at; default all. */
  readonly ids?: readonly string[];
}

/**
 * Marks every session whose supervisor is gone without an ending (docs/records.md, "Places on disk") and returns their ids. A
 * session that cannot be read is left as it is: one bad folder never hides the others. One look at each session that
 * has a summary: no trace is opened.
 */
export function markCrashed(home: Pick<Home, "sessions">, options: MarkCrashedOptions = {}): string[] {
  return (options.ids ?? listSessions(home)).filter((id) => {
    try {
      const paths = sessionPaths(home, id);
      return !hasSummary(paths) && markIfCrashed(paths, options) === "crashed";
    } catch {
      return false;
    }
  });
}

/**
 * Tells what became of one session and appends `session_end` when it crashed. Its lock is held from before the last
 * look at the trace until after the line is written, so a live session is never marked and no crash is marked twice.
 * An ended session without a summary gets one.
 * @throws `records.unreadable` when what lies there was not made by a session
 */
export function markIfCrashed(paths: SessionPaths, options: MarkCrashedOptions = {}): SessionState {
  requirePlain(paths);
  const ended = findSessionEnd(paths.trace);
  if (ended !== undefined) return summarize(paths, ended);
  using lock = SessionLock.tryTake(paths.lockFile);
  if (lock === undefined) return "running";
  const meanwhile = findSessionEnd(paths.trace);
  if (meanwhile !== undefined) return summarize(paths, meanwhile);
  lock.freeReserve();
  appendEnd(paths, CRASHED, options.now);
  return "crashed";
}

/**
 * Writes the ending of a session that could not do so itself, for who holds its lock. Gives false when it has one: the
 * first ending is the one that counts.
 * @throws `records.unreadable` when what lies there was not made by a session
 */
export function recordEnd(
  paths: SessionPaths,
  end: SessionEnd,
  options: Pick<MarkCrashedOptions, "now"> = {},
): boolean {
  requirePlain(paths);
  const ended = findSessionEnd(paths.trace);
  if (ended !== undefined) summarize(paths, ended);
  else appendEnd(paths, end, options.now);
  return ended === undefined;
}

function appendEnd(paths: SessionPaths, end: SessionEnd, now: () => number = Date.now): void {
  const ts = Math.floor(now());
  const line = traceLine("session_end", paths.id, ts, end);
  const file = Deno.openSync(paths.trace, { read: true, append: true, create: true, mode: 0o600 });
  try {
    appendLine(file, endsTorn(file) ? `\n${line}` : line);
  } finally {
    file.close();
  }
  summarize(paths, { event: "session_end", ts, session_id: paths.id, ...end });
}

/** Nothing is written through a link that took the place of a record. */
function requirePlain(paths: SessionPaths): void {
  const refuse = (path: string) => new CapsuleError("records.unreadable", `Read record: ${path} was not made by boll`);
  for (const folder of [paths.root, paths.records]) {
    const info = Deno.lstatSync(folder);
    if (!info.isDirectory) throw refuse(folder);
  }
  for (const path of [paths.lockFile, paths.trace]) {
    const isPlain = isPlainOrMissing(path);
    if (!isPlain) throw refuse(path);
  }
}

function isPlainOrMissing(path: string): boolean {
  try {
    return Deno.lstatSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return true;
    throw error;
  }
}

function summarize(paths: SessionPaths, end: TraceEvent): "ended" {
  if (readSummary(paths) !== undefined) return "ended";
  const start = findSessionBegin(paths);
  const capsule = start?.["capsule"] as { readonly name?: unknown } | null | undefined;
  writeSummary(paths.summary, summaryOf(paths.id, { started_ms: start?.ts, capsule: capsule?.name }, end));
  return "ended";
}

/** Whether the last line lacks its newline: the crash cut it. */
function endsTorn(file: Deno.FsFile): boolean {
  const size = file.statSync().size;
  if (size === 0) return false;
  file.seekSync(size - 1, Deno.SeekMode.Start);
  const last = new Uint8Array(1);
  file.readSync(last);
  return last[0] !== 10;
}
