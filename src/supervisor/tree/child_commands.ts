import { type ControlMsg, REASON_CLOSED } from "../../protocol/control/mod.ts";
import { breakProtocol, endFor, jumpToKill, leaveAfterLastWord, then } from "./child_ladder.ts";
import type { ChildCommand, ChildState, CommandVerdict, EndReason, Step } from "./child_state.ts";
import { replyToGate } from "./gates.ts";

/** Somebody wants something of the child; the step tells what became of it. */
export function obey(state: ChildState, command: ChildCommand, nowMs: number): Step {
  if (command.kind === "answer") return answer(state, command.message, nowMs);
  if (state.phase === "ended") return tell(state, "ended");
  if (command.kind === "kill") {
    const reasoned = state.reason || state.terminal ? state : { ...state, reason: command.reason };
    return then(jumpToKill(reasoned, nowMs), (state) => tell(state, "done"));
  }
  if (state.phase === "ending") return tell(state, "ending");
  switch (command.kind) {
    case "pause":
      return pause(state);
    case "resume":
      return resume(state);
    case "cancel":
      return then(endFor(state, command.reason, nowMs), (state) => tell(state, "done"));
    case "close":
      return close(state, nowMs);
    case "cancel_turn":
      return cancelTurn(state);
    case "inject":
      return inject(state, command.message, nowMs);
    case "reply":
      return reply(state, command.node, command.message);
    case "swap":
      return send(state, { type: "swap_intel", ...command.swap });
  }
}

function tell(state: ChildState, verdict: CommandVerdict): Step {
  return { state, effects: [{ kind: "told", verdict }] };
}

function send(state: ChildState, message: ControlMsg, verdict: CommandVerdict = "done"): Step {
  return { state, effects: [{ kind: "send", message }, { kind: "told", verdict }] };
}

/** While it starts, the child is told at once and stops before its first turn. */
function pause(state: ChildState): Step {
  if (state.pauseWanted) return tell(state, "already");
  const phase = state.phase === "running" ? "paused" : state.phase;
  return send({ ...state, pauseWanted: true, phase }, { type: "pause" });
}

function resume(state: ChildState): Step {
  if (!state.pauseWanted) return tell(state, "already");
  const phase = state.phase === "paused" ? "running" : state.phase;
  return send({ ...state, pauseWanted: false, phase }, { type: "resume" });
}

/**
 * Between two turns a warm session has its result; in the middle of one it is cancelled like any other. One with a door
 * ends its turns itself, and tells whoever waits for them.
 */
function close(state: ChildState, nowMs: number): Step {
  if (!state.rules.warm) return tell(state, "not_warm");
  const reason: EndReason = { status: "cancelled", ended_by: "terminated", detail: "the session was closed in a turn" };
  if (state.rules.hasDoor) return closeDoor(state, nowMs);
  if (state.turnOpen) return then(endFor(state, reason, nowMs), (state) => tell(state, "done"));
  const asked: Step = {
    state: { ...state, closing: true },
    effects: [{ kind: "send", message: { type: "cancel", reason: REASON_CLOSED } }],
  };
  return then(then(asked, (state) => leaveAfterLastWord(state, nowMs)), (state) => tell(state, "done"));
}

/** A door's turns are its own to end. */
function cancelTurn(state: ChildState): Step {
  if (!state.rules.warm || state.rules.hasDoor) return tell(state, "not_warm");
  return state.turnOpen ? send(state, { type: "cancel_turn" }) : tell(state, "already");
}

/** Its stdin stays open: without it, it would have no time for those who wait at its door. */
function closeDoor(state: ChildState, nowMs: number): Step {
  const ladder = { step: "asked", nextMs: nowMs + state.rules.timings.cancelMs } as const;
  return send({ ...state, closing: true, phase: "ending", ladder }, {
    type: "cancel",
    reason: REASON_CLOSED,
  });
}

/** The child queues the message; the backstop runs from the turn that it starts. */
function inject(state: ChildState, message: string, nowMs: number): Step {
  if (!state.rules.warm || state.rules.hasDoor) return tell(state, "not_warm");
  const next: ChildState = state.turnOpen ? { ...state, turnsQueued: state.turnsQueued + 1 } : {
    ...state,
    turnOpen: true,
    deadlineMs: nowMs + state.rules.deadlineMs + state.rules.timings.deadlineSlackMs,
  };
  return send(next, { type: "inject", message });
}

function reply(state: ChildState, node: string, message: string): Step {
  const { gate, verdict } = replyToGate(state.gate, node);
  if (verdict !== "taken") return tell(state, verdict);
  return send({ ...state, gate }, { type: "inject", message, node }, verdict);
}

/** An answer that nobody waits for is dropped and counted; one of the wrong kind would leave the asker without any. */
function answer(state: ChildState, message: Extract<ChildCommand, { kind: "answer" }>["message"], nowMs: number): Step {
  const asked = state.phase === "ended" ? undefined : state.pending.get(message.id);
  if (asked === undefined) {
    const dropped = { ...state.dropped, answers: state.dropped.answers + 1 };
    return tell({ ...state, dropped }, state.phase === "ended" ? "ended" : "unknown_id");
  }
  if ((asked === "tool") !== (message.type === "tool_result")) {
    const detail = `request ${message.id} was for a ${asked}, and its answer is a ${message.type}`;
    return then(breakProtocol(state, detail, nowMs), (state) => tell(state, "ending"));
  }
  const pending = new Map(state.pending);
  pending.delete(message.id);
  return send({ ...state, pending }, message);
}
