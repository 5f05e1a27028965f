import { createHash } from "node:crypto";
import { join } from "@std/path";
import { CapsuleError, printableLine } from "../base/mod.ts";
import { readChunks } from "./regular_file.ts";

/** A folder of more entries, or nested deeper, is no capsule. */
const MAX_ENTRIES = 100_000;
const MAX_DEPTH = 64;

const OPTIONS = { code: "capsule.bad_file", maxBytes: Number.MAX_SAFE_INTEGER } as const;
const encoder = new TextEncoder();

/** `sha256:` and the hex SHA-256 of the bytes. */
export function digestBytes(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

/**
 * `sha256:` and the hex SHA-256 of a regular file's bytes, streamed. A link is refused.
 * @throws {CapsuleError} `capsule.bad_file`
 */
export function digestFile(path: string): string {
  return `sha256:${hashFile(path)}`;
}

/**
 * The digest of a capsule's folder (docs/manifest.md, "Digest"): SHA-256 over the lines `path NUL hex-sha256 LF` of every regular
 * file, sorted by path bytes; `.git` and `.boll` are skipped at any depth. `root` must be a real path.
 * A file whose name is not UTF-8 does not count: the runtime cannot name it, so neither can a manifest or a guest.
 * `onFile` is told each file's path below `root` and its own digest.
 * @throws {CapsuleError} `capsule.bad_file` for a link, a special file, an unreadable file or too many entries.
 */
export function digestFolder(root: string, onFile?: (path: string, digest: string) => void): string {
  const files = listFiles(root).map((path) => ({ path, bytes: encoder.encode(path) }));
  files.sort((one, other) => compareBytes(one.bytes, other.bytes));
  const hash = createHash("sha256");
  for (const { path } of files) {
    const hex = hashFile(join(root, path));
    hash.update(`${path}\0${hex}\n`);
    onFile?.(path, `sha256:${hex}`);
  }
  return `sha256:${hash.digest("hex")}`;
}

function hashFile(path: string): string {
  const hash = createHash("sha256");
  readChunks(path, OPTIONS, (chunk) => hash.update(chunk));
  return hash.digest("hex");
}

/** Relative paths of all regular files, in no order. */
function listFiles(root: string): string[] {
  const files: string[] = [];
  const pending = [{ path: "", depth: 0 }];
  let entries = 0;
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of readFolder(root, folder.path)) {
      if (entry.name === ".git" || entry.name === ".boll") continue;
      const path = folder.path === "" ? entry.name : `${folder.path}/${entry.name}`;
      if (++entries > MAX_ENTRIES) throw refuse(root, `found more than ${MAX_ENTRIES} entries`);
      if (entry.isSymlink) throw refuse(join(root, path), "found a link, a capsule may hold only files and folders");
      if (entry.isFile) files.push(path);
      else if (!entry.isDirectory) throw refuse(join(root, path), "found a special file, a capsule may hold none");
      else if (folder.depth === MAX_DEPTH) throw refuse(join(root, path), `nested deeper than ${MAX_DEPTH} folders`);
      else pending.push({ path, depth: folder.depth + 1 });
    }
  }
  return files;
}

function readFolder(root: string, path: string): Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(join(root, path))];
  } catch (error) {
    throw new CapsuleError("capsule.bad_file", `Read folder ${printableLine(join(root, path))}: it cannot be listed`, {
      cause: error,
    });
  }
}

function refuse(path: string, why: string): CapsuleError {
  return new CapsuleError("capsule.bad_file", `Digest ${printableLine(path)}: ${why}`);
}

function compareBytes(one: Uint8Array, other: Uint8Array): number {
  for (let at = 0; at < Math.min(one.length, other.length); at++) {
    if (one[at] !== other[at]) return one[at]! - other[at]!;
  }
  return one.length - other.length;
}
