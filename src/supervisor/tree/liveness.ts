/** What a supervisor says of a child that it watches; the first that applies, in this order. */
export type Verdict = "dead" | "deadline_exceeded" | "healthy" | "busy" | "stuck";

/** How long a child may be without a sign before it counts as stuck, ms. */
export interface LivenessTimeouts {
  /** Since the last progress. */
  readonly progressMs: number;
  /** Since the last pong. */
  readonly pongMs: number;
}

/** The timeouts of every session. */
export const LIVENESS_TIMEOUTS: LivenessTimeouts = { progressMs: 120_000, pongMs: 10_000 };

/** What is known of a child; all times on one clock, ms. */
export interface LivenessFacts {
  readonly channelOpen: boolean;
  readonly nowMs: number;
  readonly progressMs: number;
  readonly pongMs: number;
  /** When it must have ended; absent when nothing runs in it that has a deadline. */
  readonly deadlineMs?: number | undefined;
  /** Nothing runs in it: of who only waits no progress is expected. */
  readonly isIdle?: boolean;
}

/** Judges a child by its clocks alone: a long model call that goes on answering pings is `busy`, never `stuck`. */
export function judgeLiveness(facts: LivenessFacts, timeouts: LivenessTimeouts = LIVENESS_TIMEOUTS): Verdict {
  if (!facts.channelOpen) return "dead";
  if (facts.deadlineMs !== undefined && facts.nowMs >= facts.deadlineMs) return "deadline_exceeded";
  if (facts.nowMs - facts.progressMs < timeouts.progressMs) return "healthy";
  if (facts.nowMs - facts.pongMs < timeouts.pongMs) return facts.isIdle ? "healthy" : "busy";
  return "stuck";
}

/** How often to ping, ms: three times within the pong timeout, 50 ms to 5 s. */
export function pingIntervalMs(timeouts: LivenessTimeouts): number {
  return Math.min(5_000, Math.max(50, Math.floor(timeouts.pongMs / 3)));
}
