import { lineSplitter, TAIL_BYTES } from "./trace_reader.ts";
import { openRecord, readAt } from "../open_record.ts";

/** A trace above this is not shown whole unless that is asked for, bytes. */
export const MAX_WHOLE_TRACE_BYTES: number = 8 * 1024 * 1024;

const EXCERPT_LINES = 200;

/** Where the middle of a long trace begins and ends, bytes from its start; both are borders of lines. */
export interface TraceGap {
  readonly from: number;
  readonly to: number;
}

/**
 * The middle that an excerpt of a long trace leaves out: its first and its last lines stay. Nothing for a trace that is
 * short enough to be shown whole. Reads the two ends only, however long the trace.
 * @throws `records.not_found` | `records.unreadable`
 */
export function findGap(path: string, maxWholeBytes = MAX_WHOLE_TRACE_BYTES): TraceGap | undefined {
  using file = openRecord(path);
  const size = file.size;
  if (size <= maxWholeBytes) return undefined;
  const from = sum(lineLengths(readAt(file, 0, TAIL_BYTES)).slice(0, EXCERPT_LINES));
  const tailStart = Math.max(from, size - TAIL_BYTES);
  const tail = readAt(file, tailStart, size - tailStart);
  const lengths = lineLengths(tail);
  // The first line of the tail is most likely cut.
  const kept = lengths.slice(tailStart === from ? 0 : 1).slice(-EXCERPT_LINES);
  const torn = tail.length - sum(lengths);
  const to = size - torn - sum(kept);
  return to > from ? { from, to } : undefined;
}

function lineLengths(bytes: Uint8Array): number[] {
  return [...lineSplitter().push(bytes)].map(({ length }) => length);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
