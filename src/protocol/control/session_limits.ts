import type { Fields } from "../fields.ts";

/** What a session may use. None is ever 0: that would read as "unlimited" somewhere. */
export interface SessionLimits {
  readonly max_steps: number;
  readonly max_tokens: number;
  readonly deadline_ms: number;
  readonly max_depth: number;
  /** Above V8's own base. */
  readonly memory_bytes?: number;
  /** Soft; hard is 5 s more. */
  readonly cpu_seconds?: number;
  /** -20 to 19. */
  readonly nice?: number;
}

/** The most that a supervisor gives to any session, whatever is asked for. */
export const SESSION_CEILINGS = {
  max_steps: 500,
  max_tokens: 2_000_000,
  deadline_ms: 3_600_000,
  max_depth: 4,
} as const satisfies SessionLimits;

/** A deadline that a session may have, ms: the one asked for, or the most that any is given. */
export function boundDeadline(deadline_ms: number): number {
  return Math.min(deadline_ms, SESSION_CEILINGS.deadline_ms);
}

const SOME = { min: 1 };

/** @throws `protocol.bad_field`, also for a limit of 0 */
export function decodeSessionLimits(fields: Fields): SessionLimits {
  return {
    max_steps: fields.integer("max_steps", SOME),
    max_tokens: fields.integer("max_tokens", SOME),
    deadline_ms: fields.integer("deadline_ms", SOME),
    max_depth: fields.integer("max_depth", SOME),
    ...fields.optional("memory_bytes", (name) => fields.integer(name, SOME)),
    ...fields.optional("cpu_seconds", (name) => fields.integer(name, SOME)),
    ...fields.optional("nice", (name) => fields.integer(name, { min: -20, max: 19 })),
  };
}
