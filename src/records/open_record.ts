import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { CapsuleError } from "../base/mod.ts";

/** A regular file that is open for reading, as far as it goes. */
export class RecordFile implements Disposable {
  readonly #descriptor: number;
  #position = 0;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  get size(): number {
    return fstatSync(this.#descriptor).size;
  }

  /** Where the next reading begins. */
  seek(offset: number): void {
    this.#position = offset;
  }

  /** How many bytes were read; `null` at the end. */
  read(into: Uint8Array): number | null {
    const count = into.length === 0 ? 0 : readSync(this.#descriptor, into, 0, into.length, this.#position);
    this.#position += count;
    return count === 0 && into.length > 0 ? null : count;
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }
}

/**
 * Opens a record for reading if it is a regular file: a link or a pipe planted there is refused, and neither followed nor
 * waited for, whenever it came. A session that lives may exchange it between any two looks.
 * @throws `records.not_found` | `records.unreadable`
 */
export function openRecord(path: string): RecordFile {
  let descriptor: number;
  try {
    // Both flags are absent on Windows.
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    throw refuse(path, error);
  }
  try {
    if (fstatSync(descriptor).isFile()) return new RecordFile(descriptor);
  } catch (error) {
    closeSync(descriptor);
    throw refuse(path, error);
  }
  closeSync(descriptor);
  throw irregular(path);
}

/** The bytes of a file from an offset on, at most `length` of them; fewer only at its end. */
export function readAt(file: RecordFile, offset: number, length: number): Uint8Array {
  file.seek(offset);
  const bytes = new Uint8Array(length);
  let filled = 0;
  for (let read; filled < length && (read = file.read(bytes.subarray(filled))) !== null;) filled += read;
  return bytes.subarray(0, filled);
}

function refuse(path: string, error: unknown): CapsuleError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOENT") {
    return new CapsuleError("records.not_found", `Read record: ${path} does not exist`, { cause: error });
  }
  // A link, or a socket.
  if (code === "ELOOP" || code === "ENXIO") return irregular(path);
  const reason = code === "" && error instanceof Error ? error.message : code;
  return new CapsuleError("records.unreadable", `Read record: ${path} (${reason})`, { cause: error });
}

function irregular(path: string): CapsuleError {
  return new CapsuleError("records.unreadable", `Read record: ${path} is not a regular file`);
}
