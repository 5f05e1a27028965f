import { REASON_CLOSED } from "../../protocol/control/mod.ts";
import type { ChildState, EndReason, Step } from "./child_state.ts";

/** A state from which nothing follows. */
export function still(state: ChildState): Step {
  return { state, effects: [] };
}

/** Two steps as one. */
export function then(first: Step, second: (state: ChildState) => Step): Step {
  const next = second(first.state);
  return { state: next.state, effects: [...first.effects, ...next.effects] };
}

/**
 * Sends the child down the ladder, unless it is on it: `cancel` now, SIGTERM and SIGKILL to its group when their time
 * comes. The first reason is kept.
 */
export function endFor(state: ChildState, reason: EndReason | undefined, nowMs: number): Step {
  const reasoned: ChildState = reason && !state.reason ? { ...state, reason } : state;
  if (state.ladder || state.exit) return still({ ...reasoned, phase: "ending" });
  const why = reason?.detail ?? (state.closing ? REASON_CLOSED : "the session has closed its output");
  return {
    state: { ...reasoned, phase: "ending", ladder: { step: "asked", nextMs: nowMs + state.rules.timings.cancelMs } },
    effects: [{ kind: "send", message: { type: "cancel", reason: why } }],
  };
}

/** The child has said its last word: it is given the time of a cancelled one to go. */
export function leaveAfterLastWord(state: ChildState, nowMs: number): Step {
  const ladder = state.ladder ?? { step: "asked" as const, nextMs: nowMs + state.rules.timings.cancelMs };
  return { state: { ...state, phase: "ending", ladder }, effects: [{ kind: "close_stdin" }] };
}

/** A break of the protocol: of a child that could go on saying anything, nothing more is believed. */
export function breakProtocol(state: ChildState, detail: string, nowMs: number): Step {
  const reason: EndReason = { status: "failed", ended_by: "protocol_broken", detail };
  return endFor({ ...state, broken: true }, reason, nowMs);
}

/** The next step of the ladder, when it is due. */
export function walkLadder(state: ChildState, nowMs: number): Step {
  const { ladder, exit } = state;
  if (!ladder || exit || ladder.step === "killed" || nowMs < ladder.nextMs) return still(state);
  if (ladder.step === "asked") {
    const next = { step: "terminated" as const, nextMs: nowMs + state.rules.timings.termMs };
    return { state: { ...state, ladder: next }, effects: [{ kind: "signal", signal: "SIGTERM" }] };
  }
  return jumpToKill(state, nowMs);
}

/** SIGKILL without further waiting. */
export function jumpToKill(state: ChildState, nowMs: number): Step {
  if (state.exit || state.ladder?.step === "killed") return still({ ...state, phase: "ending" });
  return {
    state: { ...state, phase: "ending", ladder: { step: "killed", nextMs: nowMs } },
    effects: [{ kind: "signal", signal: "SIGKILL" }],
  };
}
