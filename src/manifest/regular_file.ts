import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { asHostFailure, CapsuleError, type ErrorCode, printableLine } from "../base/mod.ts";

const CHUNK_BYTES = 128 * 1024;

/** How a file is to be read and refused. */
export interface ReadRegularFileOptions {
  readonly code: ErrorCode;
  /** Refused beyond this many bytes. */
  readonly maxBytes: number;
}

/**
 * Streams a regular file; a link, a device or a FIFO is refused without ever blocking on it. The chunk is reused: copy
 * what must stay. Returns the number of bytes.
 * @throws {CapsuleError} the given code; `host.failed` when the host is short of what opening a file needs
 */
export function readChunks(path: string, options: ReadRegularFileOptions, take: (chunk: Uint8Array) => void): number {
  const refuse = (why: string, cause?: unknown) =>
    new CapsuleError(options.code, `Read ${printableLine(path)}: ${why}`, { cause });
  let descriptor: number;
  try {
    // Links are not followed and FIFOs do not wait: the folder is an enemy's. (Both flags are absent on Windows.)
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    descriptor = openSync(path, flags);
  } catch (error) {
    const fault = fileFault(error);
    const failure = asHostFailure(error);
    // The host is short of something: the file may be as good as any.
    if (fault === undefined && failure !== error) throw failure;
    throw refuse(fault ?? `cannot be opened (${printableLine(codeOf(error) ?? "unknown error")})`, error);
  }
  try {
    if (!fstatSync(descriptor).isFile()) throw refuse("found something that is no regular file");
    const chunk = new Uint8Array(CHUNK_BYTES);
    let total = 0;
    for (let count = readSync(descriptor, chunk); count > 0; count = readSync(descriptor, chunk)) {
      total += count;
      if (total > options.maxBytes) throw refuse(`found more than the allowed ${options.maxBytes} bytes`);
      take(chunk.subarray(0, count));
    }
    return total;
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Reads a small file of UTF-8 text, byte order mark included.
 * @throws {CapsuleError} the given code, also for bytes that are not UTF-8, with their line
 */
export function readText(path: string, options: ReadRegularFileOptions): { text: string; bytes: Uint8Array } {
  const chunks: Uint8Array[] = [];
  const bytes = new Uint8Array(readChunks(path, options, (chunk) => chunks.push(chunk.slice())));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    return { text: decoder.decode(bytes), bytes };
  } catch {
    const line = lineOfBadByte(bytes, decoder);
    throw new CapsuleError(options.code, `Read ${printableLine(path)}:${line}:1: found bytes that are not UTF-8`);
  }
}

/** A line feed is never part of a longer UTF-8 sequence, so the first line that does not decode holds the bad byte. */
function lineOfBadByte(bytes: Uint8Array, decoder: TextDecoder): number {
  for (let line = 1, start = 0;; line++) {
    const end = bytes.indexOf(10, start);
    try {
      decoder.decode(bytes.subarray(start, end === -1 ? bytes.length : end));
    } catch {
      return line;
    }
    if (end === -1) return line;
    start = end + 1;
  }
}

/** What is wrong with the file itself, as far as opening it tells. */
function fileFault(error: unknown): string | undefined {
  const code = codeOf(error);
  if (code === "ENOENT" || code === "ENOTDIR") return "found no such file";
  if (code === "ELOOP") return "found a link, wanted a regular file";
  if (code === "EACCES" || code === "EPERM") return "permission denied";
  if (code === "EISDIR") return "found a folder, wanted a regular file";
  return undefined;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}
