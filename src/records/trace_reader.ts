import { CapsuleError } from "../base/mod.ts";
import type { TraceEvent } from "./trace_events.ts";
import { MAX_LINE_LENGTH } from "./trace_writer.ts";

/** A line that is no event: its number (from 1) and why. `torn` is a last line cut by a crash. */
export interface TraceProblem {
  readonly line: number;
  readonly reason: "torn" | "too long" | "not JSON" | "not an event";
}

/** One line of a trace: the event or the problem, and the raw text (empty for a line that is too long). */
export interface TraceLine {
  readonly line: number;
  readonly text: string;
  readonly event?: TraceEvent;
  readonly problem?: TraceProblem;
}

/** A whole trace: its events in order, and what else stood between them. */
export interface Trace {
  readonly events: readonly TraceEvent[];
  readonly problems: readonly TraceProblem[];
}

// A character takes up to 3 bytes of UTF-8 per UTF-16 unit, and up to 6 when JSON escapes it.
const MAX_LINE_BYTES = MAX_LINE_LENGTH * 6;
const CHUNK_BYTES = 64 * 1024;
const TAIL_BYTES = 64 * 1024;
const NEWLINE = 10;

/**
 * Reads a whole trace, tolerating a torn last line and junk.
 * @throws `records.not_found` | `records.unreadable`
 */
export function readTrace(path: string): Trace {
  const events: TraceEvent[] = [];
  const problems: TraceProblem[] = [];
  for (const line of readTraceLines(path)) {
    if (line.event) events.push(line.event);
    if (line.problem) problems.push(line.problem);
  }
  return { events, problems };
}

/**
 * Reads a trace line by line in flat memory, however long it is.
 * @throws `records.not_found` | `records.unreadable`
 */
export function* readTraceLines(path: string): Generator<TraceLine> {
  const file = openRecord(path);
  try {
    let number = 0;
    for (const { bytes, ended } of splitLines(file)) {
      number++;
      if (bytes === undefined) yield { line: number, text: "", problem: { line: number, reason: "too long" } };
      else if (bytes.length > 0) yield parseLine(number, new TextDecoder().decode(bytes), ended);
    }
  } finally {
    file.close();
  }
}

/** Whether the last events of a trace hold a `session_end`; reads only the end of the file. A missing trace has none. */
export function hasSessionEnd(path: string): boolean {
  let file: Deno.FsFile;
  try {
    file = openRecord(path);
  } catch (error) {
    if (error instanceof CapsuleError && error.code === "records.not_found") return false;
    throw error;
  }
  try {
    const size = file.statSync().size;
    return [TAIL_BYTES, MAX_LINE_BYTES + TAIL_BYTES].some((length, attempt) =>
      (attempt === 0 || size > TAIL_BYTES) && tailHasEnd(file, Math.max(0, size - length), size)
    );
  } finally {
    file.close();
  }
}

function tailHasEnd(file: Deno.FsFile, from: number, size: number): boolean {
  file.seekSync(from, Deno.SeekMode.Start);
  const bytes = new Uint8Array(size - from);
  let filled = 0;
  for (let read; filled < bytes.length && (read = file.readSync(bytes.subarray(filled))) !== null;) filled += read;
  const lines = new TextDecoder().decode(bytes.subarray(0, filled)).split("\n");
  return lines.some((text) =>
    text.startsWith('{"event":"session_end"') && parseLine(0, text, true).event !== undefined
  );
}

/** Opens a record for reading if it is a regular file: a link or a pipe planted there is refused, not followed. */
function openRecord(path: string): Deno.FsFile {
  try {
    if (!Deno.lstatSync(path).isFile) {
      throw new CapsuleError("records.unreadable", `Read record: ${path} is not a regular file`);
    }
    return Deno.openSync(path, { read: true });
  } catch (error) {
    if (error instanceof CapsuleError) throw error;
    if (error instanceof Deno.errors.NotFound) {
      throw new CapsuleError("records.not_found", `Read record: ${path} does not exist`, { cause: error });
    }
    const reason = error instanceof Error ? error.message : String(error);
    throw new CapsuleError("records.unreadable", `Read record: ${path} (${reason})`, { cause: error });
  }
}

/** Lines as bytes without their newline; `undefined` for one that is too long (skipped, never held in memory). */
function* splitLines(file: Deno.FsFile): Generator<{ bytes: Uint8Array | undefined; ended: boolean }> {
  const chunk = new Uint8Array(CHUNK_BYTES);
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  const take = () => {
    const bytes = heldBytes > MAX_LINE_BYTES ? undefined : concat(held, heldBytes);
    [held, heldBytes] = [[], 0];
    return bytes;
  };
  for (let read; (read = file.readSync(chunk)) !== null;) {
    let start = 0;
    while (start < read) {
      const found = chunk.subarray(0, read).indexOf(NEWLINE, start);
      const end = found === -1 ? read : found;
      heldBytes += end - start;
      if (heldBytes <= MAX_LINE_BYTES) held.push(chunk.slice(start, end));
      else held = [];
      if (found !== -1) yield { bytes: take(), ended: true };
      start = end + 1;
    }
  }
  if (heldBytes > 0) yield { bytes: take(), ended: false };
}

function concat(parts: readonly Uint8Array[], length: number): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

function parseLine(line: number, text: string, ended: boolean): TraceLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { line, text, problem: { line, reason: ended ? "not JSON" : "torn" } };
  }
  return isEvent(value) ? { line, text, event: value } : { line, text, problem: { line, reason: "not an event" } };
}

function isEvent(value: unknown): value is TraceEvent {
  if (typeof value !== "object" || value === null) return false;
  const { event, ts, session_id } = value as Record<string, unknown>;
  return typeof event === "string" && typeof ts === "number" && typeof session_id === "string";
}
