import { boundedHead, boundedTail, type EndedBy, type SessionStatus } from "../../base/mod.ts";
import type { ErrorDetail, TaskOutcome, TerminalMsg, TurnResult } from "../../protocol/control/mod.ts";
import type { ChildExit } from "../cell_process.ts";
import type { ChildState, Dropped } from "./child_state.ts";
import { SPAWN_CRASH_MS } from "./restart.ts";

/** What every ending of a child is reduced to, once. */
export interface Ending {
  readonly status: SessionStatus;
  readonly ended_by: EndedBy;
  /** Absent when there never was a process. */
  readonly exit?: ChildExit;
  /** What the child told last, also when its status is not the ending's. */
  readonly outcome?: TaskOutcome;
  readonly turn?: TurnResult;
  readonly error?: ErrorDetail;
  readonly detail?: string;
  /** The end of its stderr, at most 2000 bytes. */
  readonly tail: string;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly duration_ms: number;
  /** It died within 2 s and was never ready. */
  readonly spawn_crash: boolean;
  readonly dropped: Dropped;
}

type Cause = Pick<Ending, "status" | "ended_by" | "detail">;

const ABORT_SIGNALS: readonly (string | null)[] = ["SIGABRT", "SIGTRAP", "SIGILL"];

/**
 * How a child ended, by the first that applies: the supervisor's own reason; the child's last word; the limit whose
 * signal ended it; a torn frame; else it crashed.
 */
export function decideEnding(state: ChildState, tail: string, nowMs: number): Ending {
  const { terminal, lastTurn, exit, exitMs = nowMs } = state;
  const outcome = (keepsLastTurn(state) ? undefined : outcomeOf(terminal)) ?? lastTurn;
  const { detail, ...cause } = causeOf(state);
  return {
    ...cause,
    ...(detail !== undefined && { detail: boundedHead(detail) }),
    ...(exit && { exit }),
    ...(outcome && { outcome }),
    ...(terminal?.type === "turn_done" && { turn: terminal.turn }),
    ...(terminal?.type === "failed" && { error: terminal.error }),
    tail: boundedTail(tail),
    tokens_in: state.tokensIn,
    tokens_out: state.tokensOut,
    duration_ms: Math.max(0, Math.round(exitMs - state.startedMs)),
    spawn_crash: state.readyMs === undefined && exitMs - state.startedMs < SPAWN_CRASH_MS,
    dropped: state.dropped,
  };
}

function causeOf(state: ChildState): Cause {
  const { reason, terminal, lastTurn, exit } = state;
  if (reason) return reason;
  if (lastTurn && keepsLastTurn(state)) return causeOfStatus(lastTurn.status);
  if (terminal) return causeOfTerminal(terminal);
  if (exit?.signal === "SIGXCPU") {
    return { status: "failed", ended_by: "cpu", detail: "the session used up its CPU time" };
  }
  if (state.rules.memoryLimited && exit && ABORT_SIGNALS.includes(exit.signal)) {
    const detail = `the session was ended by ${exit.signal} at its memory limit`;
    return { status: "failed", ended_by: "memory", detail };
  }
  const wasEnded = state.ladder !== undefined && state.ladder.step !== "asked";
  if (state.torn !== undefined && (wasEnded || exit?.code === 0)) {
    return { status: "failed", ended_by: "protocol_broken", detail: state.torn };
  }
  const how = !exit
    ? "is gone"
    : exit.signal === null
    ? `exited with code ${exit.code}`
    : `was ended by ${exit.signal}`;
  const lost = !wasEnded
    ? ""
    : state.closing
    ? ": it was asked to end, and did not"
    : ", after it had closed its output";
  return { status: "crashed", ended_by: "crashed", detail: `the session ${how} without a result${lost}` };
}

/** A warm session that is closed between turns ends as its last turn did: `cancelled` is only the word it closes with. */
function keepsLastTurn({ rules, closing, lastTurn, terminal }: ChildState): boolean {
  // What the last message to a door came to is nothing about the session behind it.
  if (!closing || lastTurn === undefined || rules.hasDoor) return false;
  return terminal === undefined || (terminal.type === "result" && terminal.outcome.status === "cancelled");
}

function outcomeOf(terminal: TerminalMsg | undefined): TaskOutcome | undefined {
  return terminal?.type === "result" ? terminal.outcome : undefined;
}

function causeOfTerminal(terminal: TerminalMsg): Cause {
  switch (terminal.type) {
    case "result":
      return causeOfStatus(terminal.outcome.status);
    case "turn_done":
      return causeOfStatus(terminal.turn.status);
    case "failed":
      return { status: "failed", ended_by: "guest", detail: `${terminal.error.code}: ${terminal.error.message}` };
  }
}

function causeOfStatus(status: SessionStatus): Cause {
  switch (status) {
    case "deadline":
    case "refused":
      return { status, ended_by: status };
    case "cancelled":
      return { status, ended_by: "interrupted" };
    case "crashed":
      return { status, ended_by: "crashed" };
    default:
      return { status, ended_by: "guest" };
  }
}
