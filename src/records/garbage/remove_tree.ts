import { basename, dirname, join } from "@std/path";
import { newId } from "../../base/mod.ts";

/** What a folder that is being removed is called first: whatever bears it belongs to nobody any more. */
export const GONE_PREFIX = ".gone-";

const MAX_TURNS = 8;
const MAX_COUNTED_ENTRIES = 20_000;

/**
 * Removes a folder whole or not at all, as its readers see it: one rename to a `.gone-…` name beside it, then the
 * removal, which a later `gc` finishes if this process dies; or `later` takes what is to be removed. Gives false when it
 * was not there.
 */
export function removeWhole(path: string, later: (gone: string) => void = removeTree): boolean {
  const gone = join(dirname(path), `${GONE_PREFIX}${basename(path)}-${newId("req").slice(-8)}`);
  try {
    Deno.renameSync(path, gone);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
  later(gone);
  return true;
}

/**
 * Removes a path with all below; a link is removed, never followed. Quiet when it is gone, also while it goes. However
 * deep a guest has nested its folders: each is moved up before it is emptied, so that no path and no stack grows.
 */
export function removeTree(path: string): void {
  for (let turn = 1;; turn++) {
    try {
      return removeFlat(path);
    } catch (error) {
      if (!isThere(path)) return;
      // Another process removes the same.
      if (turn === MAX_TURNS) throw error;
    }
  }
}

function removeFlat(root: string): void {
  const prefix = `${root}/${GONE_PREFIX}${newId("req").slice(-8)}-`;
  const waiting = isFolder(root) ? [root] : [];
  for (let moved = 0, folder; (folder = waiting.pop()) !== undefined;) {
    for (const { name, isDirectory } of readOwn(folder)) {
      const from = `${folder}/${name}`;
      if (!isDirectory) continue;
      const to = folder === root ? from : `${prefix}${moved++}`;
      if (from === to || move(from, to)) waiting.push(to);
    }
    if (folder !== root) removeSoon(folder);
  }
  Deno.removeSync(root, { recursive: true });
}

/** Gives false when it is gone. A folder made read-only can be neither moved nor emptied until that is undone. */
function move(from: string, to: string): boolean {
  for (const isRetry of [false, true]) {
    try {
      Deno.renameSync(from, to);
      return true;
    } catch (error) {
      if (isRetry || !(error instanceof Deno.errors.PermissionDenied)) break;
      for (const folder of [dirname(from), from]) open(folder);
    }
  }
  return false;
}

/** Lists a folder that is to go, with the right to. */
function readOwn(folder: string): Deno.DirEntry[] {
  try {
    if (((Deno.lstatSync(folder).mode ?? 0o700) & 0o700) !== 0o700) open(folder);
  } catch { /* another process removes the same */ }
  return read(folder);
}

function removeSoon(folder: string): void {
  try {
    Deno.removeSync(folder, { recursive: true });
  } catch { /* it is gone, or the last removal says why not */ }
}

/** Bytes of the regular files below a path, as far as they can be seen and are not too many; links count nothing. */
export function treeBytes(path: string): number {
  let bytes = 0;
  let left = MAX_COUNTED_ENTRIES;
  const waiting = [path];
  for (let folder; left > 0 && (folder = waiting.pop()) !== undefined;) {
    for (const { name, isDirectory, isFile } of folder === path ? entriesOf(path) : read(folder)) {
      if (--left < 0) break;
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

/** Gives the owner of a real folder back the right to list and change it. */
function open(folder: string): void {
  if (isFolder(folder)) Deno.chmodSync(folder, 0o700);
}

function isThere(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
