import { type FileError, fileErrorOf } from "./file_error.ts";
import { HOSTED, requireHosted } from "../hosted.ts";
import { type FileType, fileTypeOf, lstat } from "./place.ts";

/**
 * Largest folder that is listed, bytes of its own as the system counts them: some 140 000 names of 12 bytes on ext4.
 * Deno reads all names at once (1.3 KB each), and a cell that runs out of memory over it could not say why.
 */
export const MAX_FOLDER_BYTES = 4 * 1024 * 1024;

/**
 * All names of a folder, which Deno reads at once; `info` is the folder's own.
 * @throws FileError `insufficient-memory` past {@link MAX_FOLDER_BYTES}, before anything is read
 */
export function readFolder(host: string, info: Pick<Deno.FileInfo, "size">): Iterable<Deno.DirEntry> {
  if (info.size > MAX_FOLDER_BYTES) throw "insufficient-memory" satisfies FileError;
  return Deno.readDirSync(host);
}

/**
 * `directory-entry-stream`: the names of a folder, without `.` and `..`, in the system's order. Names that are not
 * UTF-8 are left out: neither Deno nor WASI can say them.
 */
export class DirectoryEntryStream {
  readonly #entries: Iterator<Deno.DirEntry>;
  readonly #host: string;

  /**
   * `info` is the folder's own.
   * @throws FileError `insufficient-memory` past {@link MAX_FOLDER_BYTES}
   * @throws the error of Deno when the folder cannot be read
   */
  constructor(key: typeof HOSTED, host: string, info: Pick<Deno.FileInfo, "size">) {
    requireHosted(key);
    this.#host = host;
    this.#entries = readFolder(host, info)[Symbol.iterator]();
  }

  readDirectoryEntry(): { type: FileType; name: string } | undefined {
    let next;
    try {
      next = this.#entries.next();
    } catch (error) {
      throw fileErrorOf(error);
    }
    if (next.done === true) return undefined;
    return { type: this.#typeOf(next.value), name: next.value.name };
  }

  #typeOf(entry: Deno.DirEntry): FileType {
    if (entry.isFile) return "regular-file";
    if (entry.isDirectory) return "directory";
    if (entry.isSymlink) return "symbolic-link";
    try {
      const info = lstat(`${this.#host}/${entry.name}`);
      return info === undefined ? "unknown" : fileTypeOf(info);
    } catch {
      return "unknown";
    }
  }
}
