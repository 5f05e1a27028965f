import { type FileError, fileErrorOf } from "./file_error.ts";
import { readFolder } from "./directory_entry_stream.ts";
import type { FileHost } from "./file_host.ts";
import { type Folder, requireWritable } from "./place.ts";
import { type Place, staysInside, walk, type WalkRequest } from "./walk.ts";

/** `create-directory-at`. @throws FileError */
export function createDirectory(host: FileHost, folder: Folder, path: string): void {
  requireWritable(folder.preopen);
  const place = find(host, folder, path.replace(/(.)\/+$/, "$1"), "keep", true);
  if (place.info !== undefined) throw "exist" satisfies FileError;
  host.usage.beginBlock();
  Deno.mkdirSync(place.host);
}

/** `remove-directory-at`: an empty folder only. @throws FileError */
export function removeDirectory(host: FileHost, folder: Folder, path: string): void {
  requireWritable(folder.preopen);
  const place = find(host, folder, path, "refuse");
  if (place.info === undefined) throw "no-entry" satisfies FileError;
  if (!place.info.isDirectory) throw "not-directory" satisfies FileError;
  if (place.lastName === "") throw "invalid" satisfies FileError;
  if (place.lastName === "..") throw "not-empty" satisfies FileError;
  if (/(^|\/)\.\/*$/.test(path)) throw "invalid" satisfies FileError;
  Deno.removeSync(place.host);
}

/** `unlink-file-at`: anything but a folder. @throws FileError */
export function unlinkFile(host: FileHost, folder: Folder, path: string): void {
  requireWritable(folder.preopen);
  const place = find(host, folder, path, "refuse");
  if (place.info === undefined) throw "no-entry" satisfies FileError;
  if (place.info.isDirectory) throw "is-directory" satisfies FileError;
  Deno.removeSync(place.host);
}

/** `rename-at`, within and between granted places. Open folders below move along. @throws FileError */
export function rename(host: FileHost, from: Folder, oldPath: string, to: Folder, newPath: string): void {
  requireWritable(from.preopen);
  requireWritable(to.preopen);
  const source = find(host, from, oldPath, "refuse");
  const target = find(host, to, newPath, "refuse", true);
  if (source.info === undefined) throw "no-entry" satisfies FileError;
  if (isDots(source) || isDots(target)) throw "busy" satisfies FileError;
  if (target.saysFolder && !source.info.isDirectory) throw "not-directory" satisfies FileError;
  if (source.info.isSymlink) requireInside(host, target, Deno.readLinkSync(source.host));
  if (source.info.isDirectory) requireLinksInside(host, source, target);
  Deno.renameSync(source.host, target.host);
  if (source.info.isDirectory) host.moveFolders({ index: from.index, parts: source.parts }, to, target.parts);
}

/** `link-at`: a further name for a file, both in places that may be written. @throws FileError */
export function link(
  host: FileHost,
  source: { folder: Folder; path: string; follow: boolean },
  to: Folder,
  newPath: string,
): void {
  requireWritable(source.folder.preopen);
  requireWritable(to.preopen);
  const old = find(host, source.folder, source.path, source.follow ? "follow" : "keep");
  const target = newName(host, to, newPath);
  if (old.info === undefined) throw "no-entry" satisfies FileError;
  if (!old.info.isFile && !old.info.isSymlink) throw "not-permitted" satisfies FileError;
  if (old.info.isSymlink) requireInside(host, target, Deno.readLinkSync(old.host));
  host.usage.beginBlock();
  Deno.linkSync(old.host, target.host);
}

/** `symlink-at`: a link that stays inside its preopen; another thread makes it, and checks again. @throws FileError */
export function symlink(host: FileHost, target: string, folder: Folder, newPath: string): void {
  requireWritable(folder.preopen);
  if (typeof target !== "string") throw new TypeError("Make a link: found another type than string");
  if (target === "") throw "no-entry" satisfies FileError;
  if (target.includes("\0")) throw "invalid" satisfies FileError;
  const place = newName(host, folder, newPath);
  requireInside(host, place, target);
  host.usage.beginBlock();
  try {
    host.makeSymlink({ preopen: folder.index, path: place.parts.join("/"), target });
  } catch (error) {
    throw fileErrorOf(error);
  }
}

/** `readlink-at`. @throws FileError `invalid` when it is no link, `not-permitted` when it says an absolute path. */
export function readlink(host: FileHost, folder: Folder, path: string): string {
  const place = find(host, folder, path, "keep");
  if (place.info === undefined) throw "no-entry" satisfies FileError;
  if (!place.info.isSymlink) throw "invalid" satisfies FileError;
  const target = Deno.readLinkSync(place.host);
  if (target.startsWith("/")) throw "not-permitted" satisfies FileError;
  return target;
}

/** {@link walk}, with a way out reported. @throws FileError */
export function find(host: FileHost, folder: Folder, path: string, last: WalkRequest["last"], isNew = false): Place {
  return walk(folder, { path, last, isNew, onEscape: (asked) => host.deny(folder.preopen, "open", asked) });
}

/** The place of a name that must be free, for links. @throws FileError */
function newName(host: FileHost, folder: Folder, path: string): Place {
  const place = find(host, folder, path, "refuse", true);
  if (place.info !== undefined) throw "exist" satisfies FileError;
  if (place.saysFolder) throw "no-entry" satisfies FileError;
  return place;
}

function requireInside(host: FileHost, place: Place, target: string): void {
  if (staysInside(place.folder, place.parts, target)) return;
  host.deny(place.folder.preopen, "open", target);
  throw "not-permitted" satisfies FileError;
}

/** Most entries of a folder that are looked at before it is moved up. */
const MAX_MOVED_ENTRIES = 100_000;

/**
 * A folder that is moved nearer to the root of its preopen, or to another one, takes along links that climb: none that
 * stayed inside may then lead out. What led out already was made by somebody else.
 * @throws FileError `not-permitted`; `insufficient-memory` where a folder is too large to be read
 */
function requireLinksInside(host: FileHost, source: Place, target: Place): void {
  const isSame = source.folder.index === target.folder.index;
  if (isSame && target.parts.length >= source.parts.length) return;
  let entries = 0;
  const pending: string[][] = [[]];
  for (let below = pending.pop(); below !== undefined; below = pending.pop()) {
    const folder = [source.host, ...below].join("/");
    for (const entry of readFolder(folder, Deno.lstatSync(folder))) {
      if (++entries > MAX_MOVED_ENTRIES) throw "not-permitted" satisfies FileError;
      const path = [...below, entry.name];
      if (entry.isDirectory) pending.push(path);
      if (!entry.isSymlink) continue;
      const says = Deno.readLinkSync([source.host, ...path].join("/"));
      if (!staysInside(source.folder, [...source.parts, ...path], says)) continue;
      if (staysInside(target.folder, [...target.parts, ...path], says)) continue;
      host.deny(target.folder.preopen, "open", says);
      throw "not-permitted" satisfies FileError;
    }
  }
}

function isDots(place: Place): boolean {
  return place.lastName === "" || place.lastName === "..";
}
