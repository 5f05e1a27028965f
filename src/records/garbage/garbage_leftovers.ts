import { BUILD_TURN } from "../folders/build_turn.ts";
import type { Home } from "../folders/home.ts";
import { sessionPaths } from "../places.ts";
import { entriesOf, GONE_PREFIX, removeTree, treeBytes } from "./remove_tree.ts";
import { SessionLock } from "../sessions/session_lock.ts";
import type { Candidate, Sweep } from "./sweep.ts";
import { unheld } from "./unheld.ts";

/** How long something half-made is left to its maker where no lock tells of it, ms. A build ends within 30 s. */
export const HALF_MADE_AGE_MS = 3_600_000;

const HALF_MADE_SESSION = /^\.new-ses_[0-9a-f]{32}$/;
const HALF_MADE_BUILD = /^\.(build-.+|req_[0-9a-f]{32}\.tmp(\.junk)?)$/;
const TEMPORARY = /^[0-9a-f]{8}$/;

/** What {@link collectLeftovers} goes by: the time, and who removes what nobody owns any more. */
export interface LeftoverRules {
  readonly nowMs: number;
  readonly later: (gone: string) => void;
}

/** Takes what processes that died left half-made or half-removed in a home. Whatever else lies there stays. */
export function collectLeftovers(home: Pick<Home, "sessions" | "cache">, rules: LeftoverRules, sweep: Sweep): void {
  const { nowMs, later } = rules;
  for (const { name } of entriesOf(home.sessions)) {
    const path = `${home.sessions}/${name}`;
    if (name.startsWith(GONE_PREFIX)) sweep.take(path, () => tree(path, later));
    if (!HALF_MADE_SESSION.test(name)) continue;
    sweep.take(path, () => isOld(path, nowMs) && !isLocked(home, name) ? tree(path) : undefined);
  }
  for (const { name } of entriesOf(home.cache)) {
    const path = `${home.cache}/${name}`;
    if (name.startsWith(GONE_PREFIX)) sweep.take(path, () => tree(path, later));
    if (BUILD_TURN.test(name)) sweep.take(path, () => abandoned(path));
    else if (HALF_MADE_BUILD.test(name)) sweep.take(path, () => isOld(path, nowMs) ? tree(path) : undefined);
  }
}

/** Takes the temporary folders whose maker is gone: those whose lock is free. */
export function collectTemporaryFolders(folder: string, sweep: Sweep): void {
  for (const { name, isDirectory } of entriesOf(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory && TEMPORARY.test(name)) sweep.take(path, () => abandoned(path));
  }
}

function abandoned(path: string): Candidate | undefined {
  return unheld(path, () => {
    removeTree(path);
    return true;
  });
}

function tree(path: string, remove = removeTree): Candidate {
  return {
    bytes: treeBytes(path),
    remove() {
      remove(path);
      return true;
    },
  };
}

function isOld(path: string, nowMs: number): boolean {
  const changedMs = Deno.lstatSync(path).mtime?.getTime() ?? nowMs;
  return nowMs - changedMs > HALF_MADE_AGE_MS;
}

function isLocked(home: Pick<Home, "sessions">, name: string): boolean {
  const { lockFile } = sessionPaths(home, name);
  try {
    if (!Deno.lstatSync(lockFile).isFile) return false;
    using lock = SessionLock.tryTake(lockFile);
    return lock === undefined;
  } catch {
    return false;
  }
}
