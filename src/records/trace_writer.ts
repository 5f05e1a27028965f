import { appendLine, printableJson } from "../base/mod.ts";
import { boundedValue } from "./bounded.ts";
import { unwritable } from "./home.ts";
import type { SessionPaths } from "./places.ts";
import type { TraceEventName, TraceFields } from "./trace_events.ts";

/** Longest line of a trace, UTF-16 units: an event above it keeps its scalar fields and says `truncated`. */
export const MAX_LINE_LENGTH = 256 * 1024;
/** Most events of one name that a guest can cause; further ones are counted and reported with `session_end`. */
export const MAX_EVENTS_PER_NAME = 10_000;

/** Options of {@link TraceWriter}. */
export interface TraceWriterOptions {
  /** Milliseconds since the epoch; default the system's clock. */
  readonly now?: () => number;
  /** Told once, with a `home.unwritable` error, when a line could not be written (a full disk). The run goes on. */
  readonly onProblem?: (error: Error) => void;
}

/**
 * Appends events to `records/trace.jsonl`: one line each, whole, in order, with `event`, `ts` and `session_id` first.
 * Never throws for a full disk: the first failure goes to `onProblem`, and each later event is tried again.
 */
export class TraceWriter {
  readonly #path: string;
  readonly #sessionId: string;
  readonly #now: () => number;
  readonly #onProblem: ((error: Error) => void) | undefined;
  readonly #counts = new Map<string, number>();
  #file: Deno.FsFile | undefined;
  #problem: Error | undefined;
  #mayBeTorn = false;
  #ended = false;

  constructor(places: Pick<SessionPaths, "id" | "trace">, options: TraceWriterOptions = {}) {
    this.#path = places.trace;
    this.#sessionId = places.id;
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
    if (count > MAX_EVENTS_PER_NAME) return;
    const extra = event === "session_end" ? this.#dropped() : {};
    this.#write(traceLine(event, this.#sessionId, Math.floor(this.#now()), { ...fields, ...extra }));
  }

  /** Closes the file; more than once is harmless, and a later append opens it again. */
  close(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #write(line: string): void {
    try {
      this.#file ??= Deno.openSync(this.#path, { append: true, create: true, mode: 0o600 });
      // The part of a line that a full disk took stays alone on its line, for readers to skip.
      const start = this.#mayBeTorn ? "\n" : "";
      this.#mayBeTorn = true;
      appendLine(this.#file, start + line);
      this.#mayBeTorn = false;
    } catch (error) {
      if (this.#problem !== undefined) return;
      this.#problem = unwritable(this.#path, error);
      this.#onProblem?.(this.#problem);
    }
  }

  #dropped(): { dropped_events?: Record<string, number> } {
    const dropped = [...this.#counts].filter(([, count]) => count > MAX_EVENTS_PER_NAME)
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
