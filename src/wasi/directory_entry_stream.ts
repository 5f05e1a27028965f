import { fileErrorOf } from "./file_error.ts";
import { HOSTED, requireHosted } from "./hosted.ts";
import { type FileType, fileTypeOf, lstat } from "./place.ts";

/**
 * `directory-entry-stream`: the names of a folder, without `.` and `..`, in the system's order. Names that are not
 * UTF-8 are left out: neither Deno nor WASI can say them.
 */
export class DirectoryEntryStream {
  readonly #entries: Iterator<Deno.DirEntry>;
  readonly #host: string;

  /** @throws the error of Deno when the folder cannot be read. */
  constructor(key: typeof HOSTED, host: string) {
    requireHosted(key);
    this.#host = host;
    this.#entries = Deno.readDirSync(host)[Symbol.iterator]();
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
