/**
 * One endpoint's breaker.
 *
 *     closed ──3rd failure in a row──▶ open ──cool-down over──▶ probing ──answer──▶ closed
 *                                       ▲                          │
 *                                       └──cool-down doubled───failure
 */
export type Breaker =
  | { readonly kind: "closed"; readonly failures: number }
  | { readonly kind: "open"; readonly untilMs: number; readonly coolDownMs: number }
  | { readonly kind: "probing"; readonly coolDownMs: number };

/** Whether an attempt may be made now; if not, when (undefined: a probe is out, and decides). */
export type Admission =
  | { readonly isAdmitted: true; readonly breaker: Breaker }
  | { readonly isAdmitted: false; readonly untilMs?: number };

export const FAILURES_TO_OPEN = 3;
export const FIRST_COOL_DOWN_MS = 5_000;
export const MAX_COOL_DOWN_MS = 60_000;

/** As every breaker begins, and as it is after an answer. */
export const CLOSED: Breaker = { kind: "closed", failures: 0 };

/** Asks for an attempt: when the cool-down is over exactly one is let through. */
export function admit(breaker: Breaker, nowMs: number): Admission {
  switch (breaker.kind) {
    case "closed":
      return { isAdmitted: true, breaker };
    case "open":
      if (nowMs < breaker.untilMs) return { isAdmitted: false, untilMs: breaker.untilMs };
      return { isAdmitted: true, breaker: { kind: "probing", coolDownMs: breaker.coolDownMs } };
    case "probing":
      return { isAdmitted: false };
  }
}

/** An attempt failed. `restMs`: the endpoint asked for so long a rest, so that it gets one at once. */
export function countFailure(breaker: Breaker, nowMs: number, restMs?: number): Breaker {
  const failures = breaker.kind === "closed" ? breaker.failures + 1 : FAILURES_TO_OPEN;
  if (failures < FAILURES_TO_OPEN && restMs === undefined) return { kind: "closed", failures };
  // Of attempts that were already out when it opened, none makes it longer.
  if (breaker.kind === "open") return breaker;
  const next = breaker.kind === "probing" ? breaker.coolDownMs * 2 : FIRST_COOL_DOWN_MS;
  const coolDownMs = Math.min(MAX_COOL_DOWN_MS, Math.max(next, restMs ?? 0));
  return { kind: "open", untilMs: nowMs + coolDownMs, coolDownMs };
}

/** An attempt was called off before it showed anything: the next one may probe. */
export function callOff(breaker: Breaker, nowMs: number): Breaker {
  return breaker.kind === "probing" ? { kind: "open", untilMs: nowMs, coolDownMs: breaker.coolDownMs } : breaker;
}
