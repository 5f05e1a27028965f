/** How a session, or one turn of it, can end, and the exit status of a process that ends so: the one table (README, "Exit codes"). */
export const STATUS_EXIT = {
  "completed": 0,
  "failed": 1,
  "refused": 5,
  "exhausted_steps": 7,
  "exhausted_tokens": 7,
  "deadline": 124,
  "stalled": 3,
  "loop_detected": 3,
  "cancelled": 130,
  "crashed": 1,
} as const satisfies Record<string, number>;

/** How a session ended, as a whole. */
export type SessionStatus = keyof typeof STATUS_EXIT;

/** Every status. */
export const SESSION_STATUSES = Object.keys(STATUS_EXIT) as readonly SessionStatus[];

/** What ended a session. */
export type EndedBy =
  | "guest"
  | "trap"
  | "deadline"
  | "memory"
  | "cpu"
  | "output"
  | "refused"
  | "interrupted"
  | "stdout_closed"
  | "crashed"
  | "stuck"
  | "terminated"
  | "protocol_broken"
  | "not_ready";

const LIMITS: readonly EndedBy[] = ["memory", "cpu", "output"];
const LIMIT_EXIT = 8;

/** The exit status of what ended so: a session that met one of its limits has that as its own, whatever its status. */
export function exitCodeOf(status: SessionStatus, endedBy: EndedBy): number {
  return status === "failed" && LIMITS.includes(endedBy) ? LIMIT_EXIT : STATUS_EXIT[status];
}

const TERMINAL: readonly SessionStatus[] = ["exhausted_tokens", "cancelled", "crashed"];

/** Whether the answer is what was asked for. */
export function endedWell(status: SessionStatus): boolean {
  return status === "completed";
}

/**
 * Whether a warm session is over after a turn that ended so: its tokens are spent, it was cancelled, or nobody is left.
 * After every other status it can be asked again, since steps and deadline are counted anew for each turn.
 */
export function isTerminal(status: SessionStatus): boolean {
  return TERMINAL.includes(status);
}
