/** One failure of a child, as the breaker counts it. */
export interface Failure {
  readonly atMs: number;
  /** {@link CRASH_WEIGHT} or {@link SPAWN_CRASH_WEIGHT}. */
  readonly weight: number;
}

/** Failures that still count, oldest first, and how many restarts in a row came before the next. */
export interface RestartState {
  readonly failures: readonly Failure[];
  readonly attempt: number;
}

/** What to do after a failure: wait and start again, or leave it (the breaker is open). */
export type RestartVerdict =
  | { readonly kind: "restart"; readonly delayMs: number }
  | { readonly kind: "open"; readonly weight: number };

export const CRASH_WEIGHT = 1;
/** A child that never became ready and died within {@link SPAWN_CRASH_MS}: it will hardly do better next time. */
export const SPAWN_CRASH_WEIGHT = 3;
export const SPAWN_CRASH_MS = 2_000;

const WINDOW_MS = 60_000;
const OPEN_WEIGHT = 5;
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;

export const NO_FAILURES: RestartState = { failures: [], attempt: 0 };

/**
 * Counts a failure of a warm child (a one-shot child is never started again). The delay doubles from 500 ms to 30 s,
 * with a jitter of at most a quarter on top; a calm minute sets it back. The breaker opens at weight 5 within a minute.
 *
 * @param random 0 to 1, for the jitter
 */
export function countFailure(
  state: RestartState,
  failure: Failure & { readonly random: number },
): { readonly state: RestartState; readonly verdict: RestartVerdict } {
  const { atMs, weight, random } = failure;
  const recent = state.failures.filter((earlier) => atMs - earlier.atMs < WINDOW_MS);
  const failures = [...recent, { atMs, weight }];
  const attempt = recent.length === 0 ? 0 : state.attempt;
  const total = failures.reduce((sum, { weight }) => sum + weight, 0);
  if (total >= OPEN_WEIGHT) return { state: { failures, attempt }, verdict: { kind: "open", weight: total } };
  const base = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt);
  const delayMs = Math.floor(base * (1 + random / 4));
  return { state: { failures, attempt: attempt + 1 }, verdict: { kind: "restart", delayMs } };
}
