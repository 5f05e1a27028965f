import { basename, dirname, join } from "@std/path";
import { CapsuleError, printableLine } from "../base/mod.ts";
import { readText, WORKSPACE_NAME } from "../manifest/mod.ts";
import { type Lock, LOCK_NAME } from "./lock.ts";
import { parseLock } from "./parse_lock.ts";

/** A larger lock is refused, bytes. */
const MAX_BYTES = 1024 * 1024;

/**
 * Reads one `boll.lock`. A link in its place is refused.
 * @throws {CapsuleError} `lock.not_found`, `lock.invalid`
 */
export function readLock(path: string): Lock {
  if (!isThere(path)) {
    throw new CapsuleError("lock.not_found", `Read ${printableLine(path)}: found no such file; run \`boll lock\``);
  }
  const root = Deno.realPathSync(dirname(path));
  const { text } = readText(path, { code: "lock.invalid", maxBytes: MAX_BYTES });
  return { path: join(root, basename(path)), root, entries: parseLock(text, path) };
}

/**
 * The lock of what lies in a folder: it is beside the nearest `boll.jsonc` at or above it. A farther one never counts.
 * @throws {CapsuleError} `lock.not_found`, `lock.invalid`
 */
export function findLock(startDir: string): Lock {
  const start = Deno.realPathSync(startDir);
  for (let folder = start;; folder = dirname(folder)) {
    if (isThere(join(folder, WORKSPACE_NAME))) return readLock(join(folder, LOCK_NAME));
    if (folder === dirname(folder)) break;
  }
  throw new CapsuleError(
    "lock.not_found",
    `Find ${LOCK_NAME} of ${
      printableLine(start)
    }: found no ${WORKSPACE_NAME} there or above; run \`boll init\`, then \`boll lock\``,
  );
}

/** Also for a link that leads nowhere. */
function isThere(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
