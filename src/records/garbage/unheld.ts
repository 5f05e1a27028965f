import { FolderLock } from "../folders/folder_lock.ts";
import { treeBytes } from "./remove_tree.ts";
import type { Candidate } from "./sweep.ts";

/**
 * A folder that nobody holds. `remove` is called while it is held here, so that whoever makes or uses it cannot come by
 * it half-way; it is not called when somebody has taken the folder since. It says whether the folder is gone.
 */
export function unheld(path: string, remove: () => boolean): Candidate | undefined {
  const lock = FolderLock.tryTake(path, "own");
  if (lock === undefined) return undefined;
  lock.release();
  return {
    bytes: treeBytes(path),
    remove() {
      using mine = FolderLock.tryTake(path, "own");
      return mine !== undefined && remove();
    },
  };
}
