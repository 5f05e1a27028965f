import { removeTree } from "./remove_tree.ts";

/** Removals under way at once: each waits for the disk most of the time. */
const WORKERS = 16;
/** Nested deeper, the system's own recursive removal is not trusted with a folder. */
const MAX_DEPTH = 16;

/** Removes folders that are nobody's any more, many at a time, in no order; gives those that resist, and why. */
export async function removeTrees(
  paths: readonly string[],
  onRemoved: (count: number) => void = () => {},
): Promise<{ path: string; reason: string }[]> {
  const failed: { path: string; reason: string }[] = [];
  let [next, removed] = [0, 0];
  const work = async () => {
    for (let path; (path = paths[next++]) !== undefined;) {
      try {
        await removeOne(path);
        onRemoved(++removed);
      } catch (error) {
        failed.push({ path, reason: error instanceof Error ? error.message : String(error) });
      }
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  return failed;
}

async function removeOne(path: string): Promise<void> {
  try {
    if (isShallow(path, MAX_DEPTH)) return await Deno.remove(path, { recursive: true });
  } catch { /* it is made removable first, or is gone */ }
  removeTree(path);
}

/** Throws the system's error for a folder that cannot be listed. */
function isShallow(folder: string, depth: number): boolean {
  if (depth === 0) return false;
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    if (isDirectory && !isShallow(`${folder}/${name}`, depth - 1)) return false;
  }
  return true;
}
