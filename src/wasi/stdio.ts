import type { ByteSink, ByteSource } from "./ports.ts";

/** The process's own stdin as a source. */
export function inheritedStdin(): ByteSource {
  throw new Error("Not built yet");
}

/** The process's own stdout (1) or stderr (2) as a sink. */
export function inheritedSink(_descriptor: 1 | 2): ByteSink {
  throw new Error("Not built yet");
}

/** A source that is at its end. */
export function closedSource(): ByteSource {
  throw new Error("Not built yet");
}

/** A sink that nobody reads: every write answers `closed`. */
export function closedSink(): ByteSink {
  throw new Error("Not built yet");
}
