import { join } from "@std/path";
import { FolderLock } from "./folder_lock.ts";
import { removeTree } from "../garbage/remove_tree.ts";

/** What the folder of a turn is called: the key is in it, so that there is one turn for each. */
export const BUILD_TURN = /^\.build-[0-9a-f]{64}$/;

/** The right to build one component, and a folder for it; leaving a `using` block gives the right back, the folder gone. */
export interface BuildTurn {
  readonly folder: string;
  [Symbol.dispose](): void;
}

/**
 * Takes the turn to build what the cache keeps under `key`; nothing while another process has it. It comes back when that
 * process is done, or dead. Where folders have no locks each may build, as it would alone.
 */
export function tryTakeBuildTurn(cacheRoot: string, key: string): BuildTurn | undefined {
  const place = join(cacheRoot, `.build-${key}`);
  Deno.mkdirSync(place, { recursive: true, mode: 0o700 });
  let lock: FolderLock | undefined;
  try {
    lock = FolderLock.tryTake(place, "own");
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) return ownFolder(cacheRoot);
  }
  if (lock === undefined) return undefined;
  try {
    // One who died here may have left something.
    return { folder: Deno.makeTempDirSync({ dir: place }), [Symbol.dispose]: () => leave(place, lock) };
  } catch (error) {
    leave(place, lock);
    throw error;
  }
}

/** A folder that nobody else takes for a turn. */
export function ownFolder(cacheRoot: string): BuildTurn {
  const folder = Deno.makeTempDirSync({ dir: cacheRoot, prefix: ".build-" });
  return { folder, [Symbol.dispose]: () => leave(folder) };
}

/** Removed before the lock is free: who takes it next makes the folder anew. */
function leave(place: string, lock?: FolderLock): void {
  try {
    removeTree(place);
  } catch { /* a later gc takes it */ }
  lock?.release();
}
