import { CapsuleError } from "../../base/mod.ts";
import { LineSplitter, type SplitLine } from "./line_splitter.ts";
import { openRecord, readAt, type RecordFile } from "../open_record.ts";
import type { TraceEvent } from "./trace_events.ts";
import { MAX_LINE_LENGTH } from "./trace_writer.ts";

/** A line that is no event, and why; `line` counts from 1, 0 where nobody counted. `torn` is a last line cut by a crash. */
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

/** A part of a file, in bytes from its start. Read from the middle of a file, lines are not counted. */
export interface ByteRange {
  readonly from?: number;
  readonly to?: number;
}

// A character takes up to 3 bytes of UTF-8 per UTF-16 unit, and up to 6 when JSON escapes it.
const MAX_LINE_BYTES = MAX_LINE_LENGTH * 6;
const CHUNK_BYTES = 64 * 1024;
/** How deep an event may nest: no writer of ours nests half as deep. */
const MAX_NESTING = 64;
/** The end of a file that surely holds its last line whole, bytes. */
export const TAIL_BYTES: number = MAX_LINE_BYTES + CHUNK_BYTES;

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
export function* readTraceLines(path: string, range: ByteRange = {}): Generator<TraceLine> {
  using file = openRecord(path);
  const parser = new LineParser(range.from);
  if (range.from !== undefined) file.seek(range.from);
  let left = (range.to ?? Infinity) - (range.from ?? 0);
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (let read; left > 0 && (read = file.read(chunk.subarray(0, Math.min(left, CHUNK_BYTES)))) !== null;) {
    left -= read;
    yield* parser.push(chunk.subarray(0, read));
  }
  yield* parser.rest();
}

/** Bytes of a trace in, its lines out; empty lines are counted and left out. */
export class LineParser {
  readonly #splitter = lineSplitter();
  #line: number;

  /** `from` is where in the file the first byte stands. */
  constructor(from = 0) {
    this.#line = from === 0 ? 0 : NaN;
  }

  /** The lines that end in these bytes. */
  *push(chunk: Uint8Array): Generator<TraceLine> {
    for (const line of this.#splitter.push(chunk)) yield* this.#parse(line);
  }

  /** What stands behind the last newline: a last line that a crash cut. */
  *rest(): Generator<TraceLine> {
    const rest = this.#splitter.rest();
    if (rest !== undefined) yield* this.#parse(rest);
  }

  *#parse({ bytes, ended }: SplitLine): Generator<TraceLine> {
    const line = ++this.#line || 0;
    if (bytes === undefined) yield { line, text: "", problem: { line, reason: "too long" } };
    else if (bytes.length > 0) yield parseLine(line, new TextDecoder().decode(bytes), ended);
  }
}

/** A splitter with the trace's longest line. */
export function lineSplitter(): LineSplitter {
  return new LineSplitter(MAX_LINE_BYTES);
}

/** Whether the last events of a trace hold a `session_end`; reads only the end of the file. A missing trace has none. */
export function hasSessionEnd(path: string): boolean {
  return findSessionEnd(path) !== undefined;
}

/** The `session_end` among the last events of a trace; reads only the end of the file. */
export function findSessionEnd(path: string): TraceEvent | undefined {
  let file: RecordFile;
  try {
    file = openRecord(path);
  } catch (error) {
    if (error instanceof CapsuleError && error.code === "records.not_found") return undefined;
    throw error;
  }
  try {
    const size = file.size;
    const found = endIn(file, Math.max(0, size - CHUNK_BYTES), size);
    return found ?? (size <= CHUNK_BYTES ? undefined : endIn(file, Math.max(0, size - TAIL_BYTES), size));
  } finally {
    file[Symbol.dispose]();
  }
}

/** The first event of a trace, when it is its `session_start`. */
export function findSessionStart(path: string): TraceEvent | undefined {
  for (const { event } of readTraceLines(path, { to: TAIL_BYTES })) {
    return event?.event === "session_start" ? event : undefined;
  }
  return undefined;
}

function endIn(file: RecordFile, from: number, size: number): TraceEvent | undefined {
  for (const text of new TextDecoder().decode(readAt(file, from, size - from)).split("\n")) {
    const event = text.startsWith('{"event":"session_end"') ? parseLine(0, text, true).event : undefined;
    if (event !== undefined) return event;
  }
  return undefined;
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
  return typeof event === "string" && typeof ts === "number" && typeof session_id === "string" &&
    isWithin(value, MAX_NESTING);
}

/** Whether a value nests no deeper: whoever prints it walks it, and a deep one would overflow the stack. */
function isWithin(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => isWithin(inner, depth - 1));
}
