import type { Datetime } from "../clocks.ts";
import { datetimeOf } from "../clocks.ts";
import type { FileError } from "./file_error.ts";
import type { Preopen } from "../host.ts";

/** `descriptor-type` of `wasi:filesystem/types`. */
export type FileType =
  | "unknown"
  | "block-device"
  | "character-device"
  | "directory"
  | "fifo"
  | "symbolic-link"
  | "regular-file"
  | "socket";

/** `descriptor-stat`. */
export interface DescriptorStat {
  readonly type: FileType;
  readonly linkCount: bigint;
  readonly size: bigint;
  readonly dataAccessTimestamp: Datetime | undefined;
  readonly dataModificationTimestamp: Datetime | undefined;
  readonly statusChangeTimestamp: Datetime | undefined;
}

/**
 * A folder that a descriptor stands for. Deno has no openat, so it is a path plus the identity of what was there: the
 * guest's own renames move the path along (`FileHost.moveFolders`), anybody else's make the descriptor `no-entry`.
 */
export interface Folder {
  preopen: Preopen;
  /** Index of the preopen. */
  index: number;
  /** Relative to the preopen; empty is its root. */
  parts: readonly string[];
  readonly info: Deno.FileInfo;
}

/** The path of a folder on the host. */
export function hostPath(folder: Folder): string {
  return joinHost(folder.preopen.host, folder.parts);
}

/** `parts` below `host`. */
export function joinHost(host: string, parts: readonly string[]): string {
  if (parts.length === 0) return host;
  return host === "/" ? `/${parts.join("/")}` : `${host}/${parts.join("/")}`;
}

/** Are these the same object on the disk? */
export function isSameFile(one: Deno.FileInfo, other: Deno.FileInfo): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

/** The folder is still what it was when it was opened. @throws FileError `no-entry` when something else is there. */
export function requireUnmoved(folder: Folder): Deno.FileInfo {
  const info = Deno.lstatSync(hostPath(folder));
  if (!isSameFile(info, folder.info)) throw "no-entry" satisfies FileError;
  return info;
}

/** What is at `host`, never followed; `undefined` when nothing is. @throws the error of Deno otherwise. */
export function lstat(host: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(host);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** What kind of file this is. */
export function fileTypeOf(info: Deno.FileInfo): FileType {
  if (info.isFile) return "regular-file";
  if (info.isDirectory) return "directory";
  if (info.isSymlink) return "symbolic-link";
  if (info.isFifo) return "fifo";
  if (info.isSocket) return "socket";
  if (info.isCharDevice) return "character-device";
  return info.isBlockDevice ? "block-device" : "unknown";
}

/** Metadata as WASI says it; times have millisecond resolution, which is Deno's. */
export function statOf(info: Deno.FileInfo): DescriptorStat {
  return {
    type: fileTypeOf(info),
    linkCount: BigInt(info.nlink ?? 1),
    size: BigInt(info.size),
    dataAccessTimestamp: timeOf(info.atime),
    dataModificationTimestamp: timeOf(info.mtime),
    statusChangeTimestamp: timeOf(info.ctime ?? info.mtime),
  };
}

/** `metadata-hash-value`: device and inode. */
export function hashOf(info: Deno.FileInfo): { lower: bigint; upper: bigint } {
  return { lower: BigInt(info.ino ?? 0), upper: BigInt(info.dev) };
}

/** @throws FileError `read-only` unless the preopen may be written. */
export function requireWritable(preopen: Preopen): void {
  if (preopen.mode !== "rw") throw "read-only" satisfies FileError;
}

function timeOf(date: Date | null): Datetime | undefined {
  return date === null ? undefined : datetimeOf(date.getTime());
}
