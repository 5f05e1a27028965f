import type { Home } from "./home.ts";
import { type SessionPaths, sessionPaths } from "./places.ts";
import { SessionLock } from "./session_lock.ts";
import { listSessions } from "./sessions.ts";
import { hasSessionEnd } from "./trace_reader.ts";
import { traceLine } from "./trace_writer.ts";
import type { SessionEnd } from "./trace_events.ts";
import { appendLine } from "../base/mod.ts";

/** What became of a session, seen from outside. */
export type SessionState = "ended" | "running" | "crashed";

const CRASHED: SessionEnd = {
  status: "crashed",
  exit_code: 1,
  ended_by: "crashed",
  duration_ms: 0,
  detail: "the supervisor ended without a record",
};

/** Options of {@link markCrashed} and {@link markIfCrashed}. `now` gives milliseconds since the epoch. */
export interface MarkCrashedOptions {
  readonly now?: () => number;
}

/**
 * Marks every session whose supervisor is gone without an ending (README, "Places on disk") and returns their ids. A
 * session that cannot be read is left as it is: one bad folder never hides the others.
 */
export function markCrashed(home: Pick<Home, "sessions">, options: MarkCrashedOptions = {}): string[] {
  return listSessions(home).filter((id) => {
    try {
      return markIfCrashed(sessionPaths(home, id), options) === "crashed";
    } catch {
      return false;
    }
  });
}

/**
 * Tells what became of one session and appends `session_end` when it crashed. Its lock is held from before the last
 * look at the trace until after the line is written, so a live session is never marked and no crash is marked twice.
 */
export function markIfCrashed(paths: SessionPaths, options: MarkCrashedOptions = {}): SessionState {
  if (hasSessionEnd(paths.trace)) return "ended";
  using lock = SessionLock.tryTake(paths.lockFile);
  if (lock === undefined) return "running";
  if (hasSessionEnd(paths.trace)) return "ended";
  const line = traceLine("session_end", paths.id, Math.floor((options.now ?? Date.now)()), CRASHED);
  const file = Deno.openSync(paths.trace, { read: true, append: true, create: true, mode: 0o600 });
  try {
    appendLine(file, endsTorn(file) ? `\n${line}` : line);
  } finally {
    file.close();
  }
  return "crashed";
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
