/** The bounds of a door. Each is reached by what clients do, never by what the capsule does. */
export interface DoorLimits {
  /** The longest body of a request, bytes. */
  readonly bodyBytes: number;
  /** The longest body of a completion, which nobody has vouched for, bytes. */
  readonly completionBytes: number;
  /** The longest head of a request, bytes. */
  readonly headBytes: number;
  /** From a connection, or the first byte of a further request on it, to the request's end, ms. */
  readonly requestMs: number;
  /** Between two requests of a connection, ms. */
  readonly idleMs: number;
  /** Without a client taking a byte that is written to it, ms. */
  readonly writeMs: number;
  /** Requests at once, streams with them; the next one is answered 503. */
  readonly requests: number;
  /** A body above that is a large one, bytes. */
  readonly largeBodyBytes: number;
  /** Requests with a large body at once, or with one of unknown length; the next one is answered 503. */
  readonly largeBodies: number;
  /** An answer above that is a large one, bytes; so is a piece of a stream. */
  readonly largeReplyBytes: number;
  /** Large answers that wait for their clients to take them, bytes together; a further one is answered 503, a stream waits. */
  readonly replyBytes: number;
  /** About where a page of a list of tasks ends, bytes; one task is on it, however large. */
  readonly pageBytes: number;
  /** What tasks that have not ended may hold in memory, bytes; a task that brings more is rejected. */
  readonly liveBytes: number;
  /** Connections from which no token came yet; when there is one more, the oldest of them goes, once it had its time. */
  readonly unknownConnections: number;
  /** How long a client has at least to show its token, ms. */
  readonly unknownMs: number;
  /** Requests of a connection from which no token came; their answers must fit in what the kernel keeps for who reads none. */
  readonly unknownRequests: number;
  /** Connections at all. */
  readonly connections: number;
  /** Events of a task that are kept for readers that come back. */
  readonly replayEvents: number;
  /** The same, bytes: the oldest go first. */
  readonly replayBytes: number;
  /** Events that a reader may be behind. */
  readonly readerEvents: number;
  /** A reader that hears nothing else hears this, ms. */
  readonly heartbeatMs: number;
  /** From a cancellation to the end of a task, whatever its work does, ms. */
  readonly cancelMs: number;
  /** Tasks that have ended and are kept in memory, and their bytes: the oldest go first. */
  readonly endedTasks: number;
  readonly endedBytes: number;
  /** Tasks that have ended and are kept in a named service, their bytes, and how long, ms: the oldest go first. */
  readonly keptTasks: number;
  readonly keptBytes: number;
  readonly keptMs: number;
}

/** The bounds when nothing else is said (`docs/decisions/0025-the-door.md`). */
export const DEFAULT_LIMITS: DoorLimits = {
  bodyBytes: 8 * 1024 * 1024,
  completionBytes: 64 * 1024,
  headBytes: 16 * 1024,
  requestMs: 30_000,
  idleMs: 60_000,
  writeMs: 30_000,
  requests: 256,
  largeBodyBytes: 256 * 1024,
  largeBodies: 8,
  largeReplyBytes: 64 * 1024,
  replyBytes: 64 * 1024 * 1024,
  pageBytes: 8 * 1024 * 1024,
  liveBytes: 128 * 1024 * 1024,
  unknownConnections: 32,
  unknownMs: 250,
  unknownRequests: 8,
  connections: 1024,
  replayEvents: 512,
  replayBytes: 16 * 1024 * 1024,
  readerEvents: 128,
  heartbeatMs: 15_000,
  cancelMs: 10_000,
  endedTasks: 1_000,
  endedBytes: 64 * 1024 * 1024,
  keptTasks: 10_000,
  keptBytes: 256 * 1024 * 1024,
  keptMs: 30 * 24 * 3_600_000,
};
