import { FolderLock } from "../folders/folder_lock.ts";
import type { Home } from "../folders/home.ts";
import { openRecord, readAt } from "../open_record.ts";
import { sessionPaths } from "../places.ts";
import { entriesOf, removeWhole } from "./remove_tree.ts";
import { hasSummary, startedMsOf } from "../sessions/summary.ts";
import type { Sweep } from "./sweep.ts";
import { unheld } from "./unheld.ts";

const CACHE_KEY = /^[0-9a-f]{64}$/;
const MAX_PLAN_BYTES = 1024 * 1024;

/** Rules of {@link collectCache}: the age from which an entry goes, and the sessions whose components stay. */
export interface CacheRules {
  readonly nowMs: number;
  readonly ageMs: number;
  readonly keptIds: readonly string[];
  readonly later: (gone: string) => void;
}

/**
 * Holds a folder of the cache for a run and notes that it was used: no `gc` takes it until the lock is released. Nothing
 * when it is gone or just going; then the component has to be looked up once more.
 */
export function holdCacheEntry(folder: string): FolderLock | undefined {
  let lock: FolderLock | undefined;
  try {
    lock = FolderLock.tryTake(folder, "share");
  } catch (error) {
    // Gone; where folders have no locks, nothing holds and nothing is collected.
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
  if (lock !== undefined) touch(folder);
  return lock;
}

/** Takes the entries that no run has used for long, that none holds, and that no kept session's plan names. */
export function collectCache(home: Home, rules: CacheRules, sweep: Sweep): void {
  let planned: ReadonlySet<string> | undefined;
  for (const { name, isDirectory } of entriesOf(home.cache)) {
    if (!isDirectory || !CACHE_KEY.test(name)) continue;
    const path = `${home.cache}/${name}`;
    sweep.take(path, () => {
      if (!isUnused(path, rules)) return undefined;
      planned ??= plannedKeys(home, rules);
      if (planned.has(name)) return undefined;
      // A run may have come and gone since.
      return unheld(path, () => isUnused(path, rules) && removeWhole(path, rules.later));
    });
  }
}

function isUnused(path: string, { nowMs, ageMs }: CacheRules): boolean {
  const usedMs = Deno.lstatSync(path).mtime?.getTime() ?? nowMs;
  return usedMs <= nowMs - ageMs;
}

/**
 * Cache keys in the plans of kept sessions. One that began within the age and has ended touched its entry then: no need
 * to look.
 */
function plannedKeys(home: Home, { keptIds, nowMs, ageMs }: CacheRules): Set<string> {
  const keys = new Set<string>();
  for (const id of keptIds) {
    const paths = sessionPaths(home, id);
    if (startedMsOf(id) > nowMs - ageMs && hasSummary(paths)) continue;
    for (const key of keysOf(paths.plan)) keys.add(key);
  }
  return keys;
}

function keysOf(path: string): readonly string[] {
  try {
    using file = openRecord(path);
    const plan = JSON.parse(new TextDecoder().decode(readAt(file, 0, MAX_PLAN_BYTES)));
    const components = [plan?.component, ...Object.values<{ cache_key?: unknown }>(plan?.tools ?? {})];
    return components.flatMap((one) => typeof one?.cache_key === "string" ? [one.cache_key] : []);
  } catch {
    return [];
  }
}

function touch(folder: string): void {
  try {
    const now = new Date();
    Deno.utimeSync(folder, now, now);
  } catch { /* a cache that may not be written is not collected either */ }
}
