import { printableJson } from "../../base/mod.ts";
import type { SessionPaths, SessionState, TraceLine } from "../../records/mod.ts";
import type { Paint } from "../text/paint.ts";
import { gapNote, skippedLine, Timeline } from "./timeline.ts";
import type { Context, TextSink } from "../verb.ts";

/** Where the lines of a trace go, one by one. */
export interface TracePrinter {
  line(line: TraceLine): void;
  /** So many bytes are left out here. */
  gap(bytes: number): void;
  /** Nothing more comes. */
  end(state: SessionState): void;
}

/** The timeline, on stdout. */
export class TextTracePrinter implements TracePrinter {
  readonly #sink: TextSink;
  readonly #timeline: Timeline;

  constructor(sink: TextSink, paths: Pick<SessionPaths, "id" | "trace">, paint: Paint) {
    this.#sink = sink;
    this.#timeline = new Timeline(paths.id, paths.trace, paint);
  }

  line({ event, problem }: TraceLine): void {
    if (event !== undefined) this.#sink.write(this.#timeline.event(event));
    if (problem !== undefined) this.#sink.write(this.#timeline.problem(problem));
  }

  gap(bytes: number): void {
    this.#sink.write(this.#timeline.gap(bytes));
  }

  end(state: SessionState): void {
    this.#sink.write(this.#timeline.end(state));
  }
}

/** The events as they were recorded, on stdout; what is no event is told on stderr. */
export class JsonTracePrinter implements TracePrinter {
  readonly #context: Pick<Context, "stdout" | "stderr">;

  constructor(context: Pick<Context, "stdout" | "stderr">) {
    this.#context = context;
  }

  line({ event, problem }: TraceLine): void {
    if (event !== undefined) this.#context.stdout.write(printableJson(event) + "\n");
    if (problem !== undefined) this.#context.stderr.write(`boll: warning: ${skippedLine(problem)}\n`);
  }

  gap(bytes: number): void {
    this.#context.stderr.write(`boll: warning: ${gapNote(bytes)}\n`);
  }

  end(): void {}
}
