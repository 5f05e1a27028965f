import { CapsuleError } from "../../base/mod.ts";
import { markIfCrashed, type SessionState } from "../sessions/crashed.ts";
import { openRecord, type RecordFile } from "../open_record.ts";
import type { SessionPaths } from "../places.ts";
import { LineParser, type TraceLine } from "./trace_reader.ts";

const CHUNK_BYTES = 64 * 1024;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 320;

/** Options of {@link followTrace}. */
export interface FollowTraceOptions {
  /** Where to begin, bytes from the start of the trace and at the border of a line. */
  readonly from?: number;
  /** Waits; longer each time that nothing came. */
  readonly pause: (ms: number) => Promise<void>;
  /** Ends it when it aborts. */
  readonly signal?: AbortSignal;
}

/**
 * The lines of a trace as they come, until its `session_end`, which a session whose supervisor died gets meanwhile. A
 * line is given once it is whole. The trace need not be there yet.
 * @throws `records.not_found` when the session is removed meanwhile | `records.unreadable`
 */
export async function* followTrace(paths: SessionPaths, options: FollowTraceOptions): AsyncGenerator<TraceLine> {
  using trace = new GrowingFile(paths.trace, options.from ?? 0);
  const parser = new LineParser(options.from);
  let state: SessionState = "running";
  for (let pauseMs = FIRST_PAUSE_MS; !options.signal?.aborted;) {
    const chunk = trace.read();
    if (chunk !== undefined) {
      pauseMs = FIRST_PAUSE_MS;
      for (const line of parser.push(chunk)) {
        yield line;
        if (line.event?.event === "session_end") return;
      }
      continue;
    }
    // All was read after the session was found to have ended: nothing more can come.
    if (state !== "running") return yield* parser.rest();
    state = stateOf(paths);
    if (state !== "running") continue;
    await options.pause(pauseMs);
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

function stateOf(paths: SessionPaths): SessionState {
  try {
    return markIfCrashed(paths);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new CapsuleError("records.not_found", `Follow trace: session ${paths.id} was removed`, { cause: error });
  }
}

/** A file that may come later, read on from where the last reading ended. */
class GrowingFile {
  readonly #path: string;
  readonly #from: number;
  readonly #chunk = new Uint8Array(CHUNK_BYTES);
  #file: RecordFile | undefined;

  constructor(path: string, from: number) {
    this.#path = path;
    this.#from = from;
  }

  /** The next bytes, valid until the next call; nothing when there are none yet. */
  read(): Uint8Array | undefined {
    this.#file ??= this.#open();
    const read = this.#file?.read(this.#chunk) ?? null;
    return read === null ? undefined : this.#chunk.subarray(0, read);
  }

  [Symbol.dispose](): void {
    this.#file?.[Symbol.dispose]();
  }

  #open(): RecordFile | undefined {
    try {
      const file = openRecord(this.#path);
      if (this.#from > 0) file.seek(this.#from);
      return file;
    } catch (error) {
      if (error instanceof CapsuleError && error.code === "records.not_found") return undefined;
      throw error;
    }
  }
}
