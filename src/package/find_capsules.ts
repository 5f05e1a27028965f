import { join } from "@std/path";
import { CapsuleError, printableLine } from "../base/mod.ts";
import { MANIFEST_NAME, matchesBelow, matchesGlob } from "../manifest/mod.ts";

/** A workspace of more folders is refused. */
const MAX_FOLDERS = 100_000;

/**
 * Every folder with a manifest that a glob names, relative to `root` (`` for itself), sorted. Links are not followed:
 * what they lead to is no capsule of this workspace. `.git` and `.boll` hold none.
 * @throws {CapsuleError} `lock.unresolved`
 */
export function findCapsules(root: string, globs: readonly string[]): readonly string[] {
  const found: string[] = [];
  const pending = [""];
  for (let count = 0, path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (++count > MAX_FOLDERS) {
      throw new CapsuleError(
        "lock.unresolved",
        `Search ${
          printableLine(root)
        }: found more than ${MAX_FOLDERS} folders; name your capsules' more closely in boll.jsonc`,
      );
    }
    const entries = readFolder(join(root, path));
    const hasManifest = entries.some(({ name }) => name === MANIFEST_NAME);
    if (hasManifest && globs.some((glob) => matchesGlob(glob, path))) found.push(path);
    if (!globs.some((glob) => matchesBelow(glob, path))) continue;
    for (const { name, isDirectory } of entries) {
      if (isDirectory && name !== ".git" && name !== ".boll") pending.push(path === "" ? name : `${path}/${name}`);
    }
  }
  return found.sort();
}

function readFolder(path: string): readonly Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(path)];
  } catch (error) {
    throw new CapsuleError("lock.unresolved", `Search ${printableLine(path)}: it cannot be listed`, { cause: error });
  }
}
