import { collectCache } from "./garbage_cache.ts";
import { collectLeftovers, collectTemporaryFolders } from "./garbage_leftovers.ts";
import type { Home } from "../folders/home.ts";
import { type SessionPaths, sessionPaths } from "../places.ts";
import { isRunning, removeSession } from "./removal.ts";
import { fileBytes, removeTree, treeBytes } from "./remove_tree.ts";
import { listSessions } from "../sessions/sessions.ts";
import { readSummary, startedMsOf } from "../sessions/summary.ts";
import { Sweep, type SweepReport } from "./sweep.ts";

const DAY_MS = 86_400_000;

/** Age from which sessions and cached components go when nothing else is said, ms. */
export const DEFAULT_GARBAGE_AGE_MS: number = 30 * DAY_MS;

/** Options of {@link collectGarbage}. */
export interface CollectGarbageOptions {
  /** So many of the newest sessions stay. Alone: all others go; with `olderThanMs`: those of the others that are older. */
  readonly keep?: number;
  /** Sessions that ended, and cached components that were last used, longer ago than this go; ms. */
  readonly olderThanMs?: number;
  /** Says what would go, and removes nothing. */
  readonly dryRun?: boolean;
  /** Takes folders that are gone for every reader and are to be removed: {@link removeTrees}. Absent: it is done at once. */
  readonly later?: (gone: string) => void;
  /** The folder in which runs make their temporary folders. */
  readonly runtimeFolder: string;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** What was removed, or would be. */
export interface GarbageReport {
  readonly dry_run: boolean;
  readonly sessions: SweepReport & { readonly running: number };
  readonly cache: SweepReport;
  readonly temporary: SweepReport;
  /** Half-made and half-removed folders of processes that died. */
  readonly leftovers: SweepReport;
  /** What could not be removed, and why. */
  readonly failed: readonly { readonly path: string; readonly reason: string }[];
}

/**
 * Removes what nobody needs: old sessions, cached components that no run has used for long, and what dead processes
 * left. Nothing goes while its owner lives, which locks tell and not the clock; any number may run at once, beside runs.
 */
export function collectGarbage(home: Home, options: CollectGarbageOptions): GarbageReport {
  const nowMs = Math.floor((options.now ?? Date.now)());
  const dryRun = options.dryRun ?? false;
  const failed: { path: string; reason: string }[] = [];
  const sweep = () => new Sweep({ dryRun, failed });
  const ageMs = options.olderThanMs ?? DEFAULT_GARBAGE_AGE_MS;
  const [sessions, cache, temporary, leftovers] = [sweep(), sweep(), sweep(), sweep()];
  const { later = removeTree } = options;
  collectLeftovers(home, { nowMs, later }, leftovers);
  const { keptIds, running } = collectSessions(home, { ...options, nowMs }, sessions);
  collectCache(home, { nowMs, ageMs, keptIds, later }, cache);
  collectTemporaryFolders(options.runtimeFolder, temporary);
  return {
    dry_run: dryRun,
    sessions: { ...sessions.report(), running },
    cache: cache.report(),
    temporary: temporary.report(),
    leftovers: leftovers.report(),
    failed,
  };
}

interface SessionRules extends Pick<CollectGarbageOptions, "keep" | "olderThanMs" | "later"> {
  readonly nowMs: number;
}

/** Gives the sessions that stay, newest first. A session is as old as its end, or its start when no end is known. */
function collectSessions(home: Home, rules: SessionRules, sweep: Sweep): { keptIds: string[]; running: number } {
  const ageMs = rules.olderThanMs ?? (rules.keep === undefined ? DEFAULT_GARBAGE_AGE_MS : -Infinity);
  const keptIds: string[] = [];
  let running = 0;
  for (const [index, id] of listSessions(home).reverse().entries()) {
    const paths = sessionPaths(home, id);
    const mayGo = index >= (rules.keep ?? 0) && startedMsOf(id) <= rules.nowMs - ageMs;
    const summary = mayGo ? readSummary(paths) : undefined;
    if (!mayGo || startedMsOf(id) + (summary?.duration_ms ?? 0) > rules.nowMs - ageMs) {
      keptIds.push(id);
      sweep.keep();
      continue;
    }
    sweep.take(paths.root, () => {
      if (summary === undefined && isRunning(home, id)) {
        running++;
        keptIds.push(id);
        return undefined;
      }
      return { bytes: sessionBytes(paths), remove: () => removeSession(home, id, rules.later) === "removed" };
    });
  }
  return { keptIds, running };
}

/** What a session takes where it can be much: its trace, its logs, its work folder. */
function sessionBytes({ trace, runtime, work }: SessionPaths): number {
  return fileBytes(trace) + treeBytes(`${runtime}/logs`) + treeBytes(work);
}
