import { fileErrorOf } from "./file_error.ts";
import type { Usage } from "../usage.ts";

/** How hard each write is pushed to the disk: `descriptor-flags` of the open. */
export type WriteSync = "none" | "data" | "all";

/**
 * One open file, shared by a descriptor and the streams made from it: closed when the last of them is dropped.
 * Positions are kept here, so that reading on costs no seek.
 */
export class OpenFile {
  readonly file: Deno.FsFile;
  readonly #usage: Usage;
  readonly #writeSync: WriteSync;
  readonly #open: Set<OpenFile>;
  #holders = 1;
  /** Where the file stands; -1 is not known. */
  #position = 0;
  /** Where the last write through here ended. */
  #writtenTo = 0;

  constructor(file: Deno.FsFile, usage: Usage, open: Set<OpenFile>, writeSync: WriteSync) {
    this.file = file;
    this.#usage = usage;
    this.#open = open;
    this.#writeSync = writeSync;
    open.add(this);
  }

  hold(): this {
    this.#holders++;
    return this;
  }

  release(): void {
    if (--this.#holders === 0) this.close();
  }

  /** Closes it whoever still holds it. */
  close(): void {
    if (!this.#open.delete(this)) return;
    this.#usage.closed();
    this.file.close();
  }

  /** Bytes read into `buffer` from `offset`; `undefined` at the end of the file. */
  read(buffer: Uint8Array, offset: number): number | undefined {
    if (!this.#reach(offset)) return undefined;
    const count = this.file.readSync(buffer);
    if (count !== null) this.#position += count;
    return count ?? undefined;
  }

  /** Writes some of `bytes` at `offset`: how many. @throws FileError at a limit. */
  write(bytes: Uint8Array, offset: number): number {
    if (bytes.length === 0) return 0;
    const room = this.#usage.room(offset, bytes.length);
    if (offset !== this.#writtenTo) this.#usage.beginBlock();
    this.#seek(offset);
    const count = this.file.writeSync(room === bytes.length ? bytes : bytes.subarray(0, room));
    this.#position += count;
    this.#writtenTo = offset + count;
    this.#usage.bytesWritten += count;
    if (this.#writeSync === "all") this.file.syncSync();
    else if (this.#writeSync === "data") this.file.syncDataSync();
    return count;
  }

  /** Writes some of `bytes` at the end of the file: how many. @throws FileError at a limit. */
  append(bytes: Uint8Array): number {
    this.#position = -1;
    const end = this.file.seekSync(0, Deno.SeekMode.End);
    this.#position = end;
    this.#writtenTo = end; // the end of a file is no hole
    return this.write(bytes, end);
  }

  /** Seeks for a read: past the longest file of this disk (EINVAL) is past the end of this one. */
  #reach(offset: number): boolean {
    try {
      this.#seek(offset);
      return true;
    } catch (error) {
      if (fileErrorOf(error) === "invalid") return false;
      throw error;
    }
  }

  #seek(offset: number): void {
    if (this.#position === offset) return;
    this.#position = -1;
    this.file.seekSync(offset, Deno.SeekMode.Start);
    this.#position = offset;
  }
}
