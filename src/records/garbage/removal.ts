import type { Home } from "../folders/home.ts";
import { type SessionPaths, sessionPaths } from "../places.ts";
import { removeWhole } from "./remove_tree.ts";
import { SessionLock } from "../sessions/session_lock.ts";

/** What became of a session that should go. */
export type Removal = "removed" | "running" | "absent";

/**
 * Removes an ended session with its records and its own work folder, whole; one that runs is left alone. Its lock is
 * held while it goes, and links in it are removed, never followed. `later` takes the folder that is to be removed.
 */
export function removeSession(home: Pick<Home, "sessions">, id: string, later?: (gone: string) => void): Removal {
  const paths = sessionPaths(home, id);
  const lock = lockOf(paths);
  if (lock === "held") return "running";
  try {
    return removeWhole(paths.root, later) ? "removed" : "absent";
  } finally {
    if (lock !== "none") lock.release();
  }
}

/** Whether a process owns the session right now. */
export function isRunning(home: Pick<Home, "sessions">, id: string): boolean {
  const lock = lockOf(sessionPaths(home, id));
  if (lock !== "held" && lock !== "none") lock.release();
  return lock === "held";
}

/** `none` where there is no lock that a session could hold: it is missing, or something else took its place. */
function lockOf({ records, lockFile }: SessionPaths): SessionLock | "held" | "none" {
  try {
    // Behind a link lies the lock of another session, or a loop without end.
    if (!Deno.lstatSync(records).isDirectory || !Deno.lstatSync(lockFile).isFile) return "none";
    return SessionLock.tryTake(lockFile) ?? "held";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return "none";
    throw error;
  }
}
