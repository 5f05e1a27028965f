/** What a child may still say of one kind, as of `atMs`. */
export interface Flow {
  readonly left: number;
  readonly atMs: number;
}

/** What a watcher can follow: so much at once, and so much more each second. */
export const FLOW_BURST = 500;
export const FLOW_PER_SECOND = 100;

/** A flow that nothing was taken of. */
export function newFlow(nowMs: number): Flow {
  return { left: FLOW_BURST, atMs: nowMs };
}

/** The flow with one less; nothing when none is left. */
export function takeOne({ left, atMs }: Flow, nowMs: number): Flow | undefined {
  const refilled = Math.min(FLOW_BURST, left + Math.max(0, nowMs - atMs) / 1_000 * FLOW_PER_SECOND);
  return refilled >= 1 ? { left: refilled - 1, atMs: nowMs } : undefined;
}
