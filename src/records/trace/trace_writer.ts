import { appendLine, printableJson } from "../../base/mod.ts";
import { boundedValue } from "../bounded.ts";
import { unwritable } from "../folders/home.ts";
import type { SessionPaths } from "../places.ts";
import type { SessionLock } from "../sessions/session_lock.ts";
import { type SessionSummary, summaryOf, writeSummary } from "../sessions/summary.ts";
import type { SessionEnd, TraceEventName, TraceFields } from "./trace_events.ts";

/** Longest line of a trace, UTF-16 units: an event above it keeps its scalar fields and says `truncated`. */
export const MAX_LINE_LENGTH = 256 * 1024;
/** Most events of one name that a guest can cause; further ones are counted and reported with `session_end`. */
export const MAX_EVENTS_PER_NAME = 10_000;

/** Events that each cost a process: of a service that lives for years none is left out. */
const UNBOUNDED: ReadonlySet<TraceEventName> = new Set(["task_start", "task_end"]);

/** Options of {@link TraceWriter}. */
export interface TraceWriterOptions {
  /** Milliseconds since the epoch; default the system's clock. */
  readonly now?: () => number;
  /** Told once, with a `home.unwritable` error, when a line could not be written (a full disk). The run goes on. */
  readonly onProblem?: (error: Error) => void;
}

/** Where a {@link TraceWriter} writes. Without `summary` it leaves none; with `lock` the ending has room of its own. */
export type TracePlaces = Pick<SessionPaths, "id" | "trace"> & Partial<Pick<SessionPaths, "summary">> & {
  readonly lock?: Pick<SessionLock, "freeReserve">;
};

/**
 * Appends events to `records/trace.jsonl`: one line each, whole, in order, with `event`, `ts` and `session_id` first;
 * and, once `session_end` is written, `records/summary.json`.
 * Never throws for a full disk: the first failure goes to `onProblem`, and each later event is tried again. The ending
 * then takes the room that was kept for it.
 */
export class TraceWriter {
  readonly #path: string;
  readonly #summaryPath: string | undefined;
  readonly #sessionId: string;
  readonly #lock: TracePlaces["lock"];
  readonly #now: () => number;
  readonly #onProblem: ((error: Error) => void) | undefined;
  readonly #counts = new Map<TraceEventName, number>();
  #file: Deno.FsFile | undefined;
  #problem: Error | undefined;
  #mayBeTorn = false;
  #ended = false;
  #start: Pick<SessionSummary, "started_ms" | "capsule"> | undefined;

  constructor(places: TracePlaces, options: TraceWriterOptions = {}) {
    this.#path = places.trace;
    this.#summaryPath = places.summary;
    this.#sessionId = places.id;
    this.#lock = places.lock;
    this.#now = options.now ?? Date.now;
    this.#onProblem = options.onProblem;
  }

  /** The first failure to write, if there was one. */
  get problem(): Error | undefined {
    return this.#problem;
  }

  /** Whether `session_end` was appended; nothing is written after it. */
  get hasEnded(): boolean {
    return this.#ended;
  }

  /** Appends one event. After `session_end` it is ignored: the first ending is the one that counts. */
  append<Name extends TraceEventName>(event: Name, fields: TraceFields[Name]): void {
    if (this.#ended) return;
    if (event === "session_end") this.#ended = true;
    const count = (this.#counts.get(event) ?? 0) + 1;
    this.#counts.set(event, count);
    if (count > MAX_EVENTS_PER_NAME && !UNBOUNDED.has(event)) return;
    const extra = event === "session_end" ? this.#dropped() : {};
    const ts = Math.floor(this.#now());
    const line = traceLine(event, this.#sessionId, ts, { ...fields, ...extra });
    const isWritten = this.#write(line) || (event === "session_end" && this.#makeRoom() && this.#write(line));
    if (event === "session_start") {
      this.#start = { started_ms: ts, capsule: (fields as TraceFields["session_start"]).capsule.name };
    }
    // Only after the line: who finds a summary need not look at the trace.
    if (event === "session_end" && isWritten) this.#summarize(fields as SessionEnd);
  }

  /** Closes the file; more than once is harmless, and a later append opens it again. */
  close(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #makeRoom(): boolean {
    this.#lock?.freeReserve();
    return this.#lock !== undefined;
  }

  #summarize(end: SessionEnd): void {
    if (this.#summaryPath === undefined) return;
    writeSummary(this.#summaryPath, summaryOf(this.#sessionId, this.#start, end));
  }

  #write(line: string): boolean {
    try {
      this.#file ??= Deno.openSync(this.#path, { append: true, create: true, mode: 0o600 });
      // The part of a line that a full disk took stays alone on its line, for readers to skip.
      const start = this.#mayBeTorn ? "\n" : "";
      this.#mayBeTorn = true;
      appendLine(this.#file, start + line);
      this.#mayBeTorn = false;
      return true;
    } catch (error) {
      if (this.#problem === undefined) {
        this.#problem = unwritable(this.#path, error);
        this.#onProblem?.(this.#problem);
      }
      return false;
    }
  }

  #dropped(): { dropped_events?: Record<string, number> } {
    const dropped = [...this.#counts].filter(([name, count]) => count > MAX_EVENTS_PER_NAME && !UNBOUNDED.has(name))
      .map(([name, count]) => [name, count - MAX_EVENTS_PER_NAME] as const);
    return dropped.length === 0 ? {} : { dropped_events: Object.fromEntries(dropped) };
  }
}

/** One line of a trace, without its newline; every field bounded, every character safe for a terminal. */
export function traceLine(event: string, sessionId: string, ts: number, fields: object): string {
  const envelope = { event, ts, session_id: sessionId };
  const bounded = boundedValue(fields) as Record<string, unknown>;
  // The envelope is spread last as well, so that no field can take its place.
  const line = printableJson({ ...envelope, ...bounded, ...envelope });
  if (line.length <= MAX_LINE_LENGTH) return line;
  const scalars = Object.entries(bounded).filter(([, value]) => typeof value !== "object");
  return printableJson({ ...envelope, ...Object.fromEntries(scalars.slice(0, 32)), ...envelope, truncated: true });
}
