import { basename, dirname, join } from "@std/path";
import { newId } from "../base/mod.ts";

/** What a folder that is being removed is called first: whatever bears it belongs to nobody any more. */
export const GONE_PREFIX = ".gone-";

const MAX_TURNS = 4;

/**
 * Removes a folder whole or not at all, as its readers see it: one rename to a `.gone-…` name beside it, then the
 * removal, which a later `gc` finishes if this process dies. Gives false when it was not there.
 */
export function removeWhole(path: string): boolean {
  const gone = join(dirname(path), `${GONE_PREFIX}${basename(path)}-${newId("req").slice(-8)}`);
  try {
    Deno.renameSync(path, gone);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
  removeTree(gone);
  return true;
}

/** Removes a path with all below; a link is removed, never followed. Quiet when it is gone, also while it goes. */
export function removeTree(path: string): void {
  for (let turn = 1;; turn++) {
    try {
      return Deno.removeSync(path, { recursive: true });
    } catch (error) {
      if (!isThere(path)) return;
      if (turn === MAX_TURNS) throw error;
      // Another process removes the same, or a folder in it was made read-only.
      if (error instanceof Deno.errors.PermissionDenied) openFolders(path);
    }
  }
}

/** Bytes of the regular files at and below a path, as far as they can be seen; links count nothing. */
export function treeBytes(path: string): number {
  let bytes = 0;
  const waiting = [path];
  for (let folder; (folder = waiting.pop()) !== undefined;) {
    for (const { name, isDirectory, isFile } of folder === path ? entriesOf(path) : read(folder)) {
      if (isDirectory) waiting.push(`${folder}/${name}`);
      else if (isFile) bytes += fileBytes(`${folder}/${name}`);
    }
  }
  return bytes;
}

/** What lies in a folder; nothing for what is none, or is gone, or cannot be read. */
export function entriesOf(folder: string): Deno.DirEntry[] {
  const entries = read(folder);
  // Most are empty, and then there is nothing to look twice at.
  return entries.length > 0 && isFolder(folder) ? entries : [];
}

/** Bytes of a regular file; 0 for what is none. */
export function fileBytes(path: string): number {
  try {
    const { isFile, size } = Deno.lstatSync(path);
    return isFile ? size : 0;
  } catch {
    return 0;
  }
}

function isFolder(path: string): boolean {
  try {
    return Deno.lstatSync(path).isDirectory;
  } catch {
    return false;
  }
}

function read(folder: string): Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(folder)];
  } catch {
    return [];
  }
}

/** Gives the owner back the right to list and change every real folder. */
function openFolders(path: string): void {
  const waiting = [path];
  for (let folder; (folder = waiting.pop()) !== undefined;) {
    try {
      if (!Deno.lstatSync(folder).isDirectory) continue;
      Deno.chmodSync(folder, 0o700);
      for (const { name, isDirectory } of Deno.readDirSync(folder)) if (isDirectory) waiting.push(`${folder}/${name}`);
    } catch { /* it goes, or it is not ours: removing says which */ }
  }
}

function isThere(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
