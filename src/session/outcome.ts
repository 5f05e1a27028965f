import { CapsuleError, errorCodeOf } from "../base/mod.ts";
import type { CellUsage, GuestEnding } from "../protocol/mod.ts";
import type { EndedBy, SessionStatus } from "../records/mod.ts";
import type { ChildExit } from "../supervisor/mod.ts";

/** How a session ended, in the words of the records and the exit table (README). */
export interface Outcome {
  readonly status: SessionStatus;
  readonly exit_code: number;
  readonly ended_by: EndedBy;
  readonly detail?: string;
}

/** What is known when a cell is gone. Its exit is always known; the rest only when it came. */
export interface CellFacts {
  /** Why the supervisor itself ended the cell, if it did. */
  readonly stopped?: "deadline" | "interrupted";
  /** A message of the cell broke the protocol, or the cell said that it could not start. */
  readonly fault?: CapsuleError;
  readonly ended?: GuestEnding;
  readonly usage?: CellUsage;
  readonly exit: ChildExit;
}

/** From this share of its cap on, percent, a failed guest is said to have run out of memory. */
const FULL_MEMORY_PERCENT = 90;

const ABORT_SIGNALS: readonly string[] = ["SIGABRT", "SIGTRAP", "SIGILL"];
const USER_SIGNALS: readonly string[] = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];

/** One cause for every ending; first that applies: the supervisor's own reason, the cell's last word, its exit. */
export function classifyEnding(facts: CellFacts): Outcome {
  if (facts.stopped === "deadline") return deadlinePassed();
  if (facts.stopped === "interrupted") return interrupted();
  if (facts.fault) return { status: "crashed", exit_code: 1, ended_by: "crashed", detail: facts.fault.message };
  if (facts.ended) return classifyGuest(facts.ended, facts.usage);
  return classifyExit(facts.exit);
}

function classifyGuest(ended: GuestEnding, usage: CellUsage | undefined): Outcome {
  if (ended.kind === "limit") return outputEnding();
  if (ended.kind === "exit" && ended.code === 0) return { status: "completed", exit_code: 0, ended_by: "guest" };
  if (usage && usage.memory_percent >= FULL_MEMORY_PERCENT) {
    return { status: "failed", exit_code: 8, ended_by: "memory", detail: "the guest reached its memory limit" };
  }
  if (usage?.stdout_closed) return { status: "failed", exit_code: 141, ended_by: "stdout_closed" };
  if (ended.kind === "exit") return { status: "failed", exit_code: ended.code, ended_by: "guest" };
  return { status: "failed", exit_code: 1, ended_by: "trap", detail: `${ended.trap}: ${ended.detail}` };
}

/** The guest wrote more than it may. */
export function outputEnding(): Outcome {
  return { status: "failed", exit_code: 8, ended_by: "output", detail: "the guest wrote more than its output limit" };
}

function classifyExit({ code, signal }: ChildExit): Outcome {
  if (signal === "SIGXCPU") {
    return { status: "failed", exit_code: 8, ended_by: "cpu", detail: "the guest used up its CPU time" };
  }
  if (signal !== null && ABORT_SIGNALS.includes(signal)) {
    const detail = `the cell was ended by ${signal}: at its memory barrier, or by a fault of the runtime`;
    return { status: "failed", exit_code: 8, ended_by: "memory", detail };
  }
  // Ctrl-C reaches the whole group: the cell may be gone before the supervisor's own listener has run.
  if (isUserSignal(signal)) return interrupted();
  const how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
  return { status: "crashed", exit_code: 1, ended_by: "crashed", detail: `the cell ${how} without a last word` };
}

/** Whether a cell never started because Ctrl-C, which reaches the whole group, ended it before its first word. */
export function isStartInterrupted(error: unknown): boolean {
  if (!(error instanceof Error) || typeof error.cause !== "object" || error.cause === null) return false;
  return "signal" in error.cause && isUserSignal(error.cause.signal);
}

function isUserSignal(signal: unknown): boolean {
  return typeof signal === "string" && USER_SIGNALS.includes(signal);
}

/** Ended from outside, by `boll stop`. */
export function terminated(): Outcome {
  return { status: "cancelled", exit_code: 130, ended_by: "terminated", detail: "ended by `boll stop`" };
}

/** The user's own ending, also of a run whose guest never started. */
export function interrupted(): Outcome {
  return { status: "cancelled", exit_code: 130, ended_by: "interrupted" };
}

/** The time that was given is over. */
export function deadlinePassed(): Outcome {
  return { status: "deadline", exit_code: 124, ended_by: "deadline", detail: "the deadline passed" };
}

/** The guest never came to run: refused by what it is or asks for, or something of ours broke. */
export function failureOutcome(error: unknown): Outcome {
  const exitCode = error instanceof CapsuleError ? error.exitStatus : 1;
  const detail = error instanceof Error ? error.message : String(error);
  if (exitCode === 2 || exitCode === 5) return { status: "refused", exit_code: exitCode, ended_by: "refused", detail };
  // Its model or a tool of its own is at fault: as when that shows in a turn.
  if (/^(model|tool)\./.test(errorCodeOf(error) ?? "")) {
    return { status: "failed", exit_code: exitCode, ended_by: "guest", detail };
  }
  return { status: "crashed", exit_code: exitCode, ended_by: "crashed", detail };
}
