import { CapsuleError } from "../base/mod.ts";

/** How often a record that is rewritten between the look and the opening is looked at anew. */
const MAX_LOOKS = 32;

/**
 * Opens a record for reading if it is a regular file: a link or a pipe planted there is refused, not followed, and so
 * is whatever took its place between the look and the opening: that is looked at anew.
 * @throws `records.not_found` | `records.unreadable`
 */
export function openRecord(path: string): Deno.FsFile {
  for (let look = 1; look <= MAX_LOOKS; look++) {
    const file = openSeen(path);
    if (file !== undefined) return file;
  }
  throw new CapsuleError("records.unreadable", `Read record: ${path} is exchanged each time it is opened; try again`);
}

/** Nothing when another file was opened than the one that was looked at. */
function openSeen(path: string): Deno.FsFile | undefined {
  let file: Deno.FsFile | undefined;
  try {
    const seen = Deno.lstatSync(path);
    if (!seen.isFile) throw new CapsuleError("records.unreadable", `Read record: ${path} is not a regular file`);
    file = Deno.openSync(path, { read: true });
    const opened = file.statSync();
    if (opened.ino === seen.ino && opened.dev === seen.dev) return file;
    file.close();
    return undefined;
  } catch (error) {
    file?.close();
    if (error instanceof CapsuleError) throw error;
    if (error instanceof Deno.errors.NotFound) {
      throw new CapsuleError("records.not_found", `Read record: ${path} does not exist`, { cause: error });
    }
    const reason = error instanceof Error ? error.message : String(error);
    throw new CapsuleError("records.unreadable", `Read record: ${path} (${reason})`, { cause: error });
  }
}

/** The bytes of a file from an offset on, at most `length` of them; fewer only at its end. */
export function readAt(file: Deno.FsFile, offset: number, length: number): Uint8Array {
  file.seekSync(offset, Deno.SeekMode.Start);
  const bytes = new Uint8Array(length);
  let filled = 0;
  for (let read; filled < length && (read = file.readSync(bytes.subarray(filled))) !== null;) filled += read;
  return bytes.subarray(0, filled);
}
