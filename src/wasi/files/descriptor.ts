import { DirectoryEntryStream } from "./directory_entry_stream.ts";
import type { FileError } from "./file_error.ts";
import { type FileHost, withFolderHandle } from "./file_host.ts";
import { readStream, writeStream } from "./file_streams.ts";
import * as changes from "./folder_changes.ts";
import { cappedLength, HOSTED, requireBytes, requireHosted } from "../hosted.ts";
import { type InputStream, MAX_READ_BYTES } from "../input_stream.ts";
import { type DescriptorFlags, openAt, type Opened, type OpenFlags, type PathFlags } from "./open_at.ts";
import type { OpenFile } from "./open_file.ts";
import type { OutputStream } from "../output_stream.ts";
import {
  type DescriptorStat,
  type FileType,
  type Folder,
  hashOf,
  hostPath,
  requireUnmoved,
  requireWritable,
  statOf,
} from "./place.ts";
import { type NewTimestamp, setTimes } from "./set_times.ts";

/** `descriptor` of `wasi:filesystem/types`: an open file or folder, with the rights it was opened with. */
export class Descriptor {
  readonly #host: FileHost;
  readonly #base: Folder;
  readonly #flags: DescriptorFlags;
  readonly #opened: Opened;
  #isDropped = false;

  /** `base` is the folder it was opened from: a file needs its preopen's mode. */
  constructor(key: typeof HOSTED, host: FileHost, base: Folder, opened: Opened, flags: DescriptorFlags) {
    requireHosted(key);
    this.#host = host;
    this.#base = base;
    this.#opened = opened;
    this.#flags = flags;
  }

  // Files.

  readViaStream(offset: bigint): InputStream {
    return readStream(this.#readable(), this.#host, offsetOf(offset));
  }

  writeViaStream(offset: bigint): OutputStream {
    return writeStream(this.#writable(), offsetOf(offset));
  }

  appendViaStream(): OutputStream {
    return writeStream(this.#writable(), undefined);
  }

  read(length: bigint, offset: bigint): [Uint8Array, boolean] {
    const open = this.#readable();
    const buffer = this.#host.scratch(cappedLength(length, MAX_READ_BYTES));
    const at = offsetOf(offset);
    if (buffer.length === 0) return [buffer, false];
    const count = this.#attempt("read", () => open.read(buffer, at));
    return count === undefined ? [buffer.subarray(0, 0), true] : [buffer.subarray(0, count), false];
  }

  write(bytes: Uint8Array, offset: bigint): bigint {
    const open = this.#writable();
    requireBytes(bytes);
    const at = offsetOf(offset);
    return BigInt(this.#attempt("write", () => open.write(bytes, at)));
  }

  setSize(size: bigint): void {
    const open = this.#writable();
    const bytes = offsetOf(size);
    if (bytes > this.#host.usage.limits.fileBytes) throw "file-too-large" satisfies FileError;
    this.#attempt("set-size", () => {
      this.#host.usage.beginBlock();
      open.file.truncateSync(bytes);
    });
  }

  advise(offset: bigint, length: bigint): void {
    offsetOf(offset);
    offsetOf(length);
  }

  // Both.

  syncData(): void {
    this.#withFile("sync", (file) => file.syncDataSync());
  }

  sync(): void {
    this.#withFile("sync", (file) => file.syncSync());
  }

  getFlags(): DescriptorFlags {
    return { ...this.#flags };
  }

  getType(): FileType {
    return this.#opened.kind === "file" ? "regular-file" : "directory";
  }

  stat(): DescriptorStat {
    return statOf(this.#info());
  }

  setTimes(access: NewTimestamp, modification: NewTimestamp): void {
    this.#attempt("set-times", () => requireWritable(this.#base.preopen));
    this.#withFile("set-times", (file) => setTimes(file, access, modification));
  }

  isSameObject(other: Descriptor): boolean {
    const own = this.#info();
    const others = other.#info();
    return own.dev === others.dev && own.ino === others.ino;
  }

  metadataHash(): { lower: bigint; upper: bigint } {
    return hashOf(this.#info());
  }

  // Folders.

  readDirectory(): DirectoryEntryStream {
    const folder = this.#folder();
    return this.#attempt(".", () => {
      const info = requireUnmoved(folder);
      return new DirectoryEntryStream(HOSTED, hostPath(folder), info);
    });
  }

  openAt(path: PathFlags, name: string, how: OpenFlags, flags: DescriptorFlags): Descriptor {
    const folder = this.#folder();
    const request = { path: name, follow: path.symlinkFollow === true, how, flags };
    const opened = this.#attempt(name, () => openAt(this.#host, folder, request));
    return new Descriptor(HOSTED, this.#host, folder, opened, heldFlags(flags, opened, folder));
  }

  statAt(path: PathFlags, name: string): DescriptorStat {
    return statOf(this.#infoAt(path, name));
  }

  metadataHashAt(path: PathFlags, name: string): { lower: bigint; upper: bigint } {
    return hashOf(this.#infoAt(path, name));
  }

  setTimesAt(path: PathFlags, name: string, access: NewTimestamp, modification: NewTimestamp): void {
    const folder = this.#folder();
    this.#attempt(name, () => {
      requireWritable(folder.preopen);
      const place = changes.find(this.#host, folder, name, path.symlinkFollow ? "follow" : "keep");
      // Deno sets the times of a link only by its path, which a confined process may not.
      if (place.info?.isSymlink) throw "unsupported" satisfies FileError;
      const flags = { read: true };
      const request = { path: name, follow: path.symlinkFollow === true, how: {}, flags };
      const opened = openAt(this.#host, folder, request);
      const target = new Descriptor(HOSTED, this.#host, folder, opened, flags);
      try {
        target.setTimes(access, modification);
      } finally {
        target[Symbol.dispose]();
      }
    });
  }

  createDirectoryAt(name: string): void {
    const folder = this.#folder();
    this.#attempt(name, () => changes.createDirectory(this.#host, folder, name));
  }

  removeDirectoryAt(name: string): void {
    const folder = this.#folder();
    this.#attempt(name, () => changes.removeDirectory(this.#host, folder, name));
  }

  unlinkFileAt(name: string): void {
    const folder = this.#folder();
    this.#attempt(name, () => changes.unlinkFile(this.#host, folder, name));
  }

  renameAt(oldName: string, newDescriptor: Descriptor, newName: string): void {
    const from = this.#folder();
    const to = newDescriptor.#folder();
    this.#attempt(oldName, () => changes.rename(this.#host, from, oldName, to, newName));
  }

  linkAt(path: PathFlags, oldName: string, newDescriptor: Descriptor, newName: string): void {
    const folder = this.#folder();
    const to = newDescriptor.#folder();
    const source = { folder, path: oldName, follow: path.symlinkFollow === true };
    this.#attempt(oldName, () => changes.link(this.#host, source, to, newName));
  }

  symlinkAt(target: string, name: string): void {
    const folder = this.#folder();
    this.#attempt(name, () => changes.symlink(this.#host, target, folder, name));
  }

  readlinkAt(name: string): string {
    const folder = this.#folder();
    return this.#attempt(name, () => changes.readlink(this.#host, folder, name));
  }

  [Symbol.dispose](): void {
    if (this.#isDropped) return;
    this.#isDropped = true;
    if (this.#opened.kind === "file") return this.#opened.open.release();
    if (this.#opened.folder.parts.length === 0 && this.#opened.folder === this.#base) return;
    this.#host.dropFolder(this.#opened.folder);
    this.#host.usage.closed();
  }

  #attempt<T>(asked: string, act: () => T): T {
    return this.#host.attempt(this.#base, asked, act);
  }

  #folder(): Folder {
    if (this.#opened.kind !== "folder") throw "not-directory" satisfies FileError;
    return this.#opened.folder;
  }

  #file(): OpenFile {
    if (this.#opened.kind !== "file") throw "is-directory" satisfies FileError;
    return this.#opened.open;
  }

  #readable(): OpenFile {
    const open = this.#file();
    if (!this.#flags.read) throw "bad-descriptor" satisfies FileError;
    return open;
  }

  #writable(): OpenFile {
    this.#attempt("a file", () => requireWritable(this.#base.preopen));
    const open = this.#file();
    if (!this.#flags.write) throw "bad-descriptor" satisfies FileError;
    return open;
  }

  #withFile(asked: string, act: (file: Deno.FsFile) => void): void {
    const opened = this.#opened;
    this.#attempt(asked, () => opened.kind === "file" ? act(opened.open.file) : withFolderHandle(opened.folder, act));
  }

  #info(): Deno.FileInfo {
    const opened = this.#opened;
    return this.#attempt(
      "stat",
      () => opened.kind === "file" ? opened.open.file.statSync() : requireUnmoved(opened.folder),
    );
  }

  #infoAt(path: PathFlags, name: string): Deno.FileInfo {
    const folder = this.#folder();
    return this.#attempt(name, () => {
      const { info } = changes.find(this.#host, folder, name, path.symlinkFollow ? "follow" : "keep");
      if (info === undefined) throw "no-entry" satisfies FileError;
      return info;
    });
  }
}

// A file is no longer than 2^53 bytes: past that every offset is past the end, and past what a write may reach.
function offsetOf(offset: bigint): number {
  if (typeof offset !== "bigint") throw new TypeError("Take an offset: found another type than u64");
  return offset > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(offset);
}

// Named one by one: a component that declares other flags than WASI's gets none of them back.
function heldFlags(flags: DescriptorFlags, opened: Opened, folder: Folder): DescriptorFlags {
  return {
    read: flags.read === true,
    write: flags.write === true,
    fileIntegritySync: flags.fileIntegritySync === true,
    dataIntegritySync: flags.dataIntegritySync === true,
    requestedWriteSync: flags.requestedWriteSync === true,
    mutateDirectory: opened.kind === "folder" && flags.mutateDirectory === true && folder.preopen.mode === "rw",
  };
}
