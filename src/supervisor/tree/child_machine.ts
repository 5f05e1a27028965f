import { tick } from "./child_clock.ts";
import { obey } from "./child_commands.ts";
import { decideEnding } from "./child_ending.ts";
import { hear } from "./child_frames.ts";
import { breakProtocol, endFor, still, then } from "./child_ladder.ts";
import type { ChildEffect, ChildInput, ChildState, Step } from "./child_state.ts";
import { closeGate } from "./gates.ts";

/**
 * One child, as a pure function of what happens to it (`docs/decisions/0013-a-supervisor-and-its-sessions.md`). Whoever
 * holds the process does the effects, in their order. Frames of a child are given before its `drained`, and `drained` only after its `exit`.
 */
export function step(state: ChildState, input: ChildInput, nowMs: number): Step {
  switch (input.kind) {
    case "frame":
      return hear(state, input.message, nowMs);
    case "command":
      return obey(state, input.command, nowMs);
    case "tick":
      return tick(state, nowMs);
    case "fault":
      return state.phase === "ended" || state.broken ? still(state) : breakProtocol(state, input.detail, nowMs);
    case "blocked":
      if (state.phase === "ended" || state.terminal) return still(state);
      return endFor(state, { status: "deadline", ended_by: "stuck", detail: input.detail }, nowMs);
    case "eof":
      return loseChannel(state, input.torn, nowMs);
    case "not_started": {
      if (state.phase === "ended" || state.readyMs !== undefined) return still(state);
      const reason = { status: "failed", ended_by: "not_ready", detail: input.detail } as const;
      return settle(state.reason ? state : { ...state, reason }, "", nowMs);
    }
    case "exit":
      if (state.phase === "ended" || state.exit) return still(state);
      // What it leaves behind in its group would hold its output open, and run on.
      return {
        state: { ...state, phase: "ending", exit: input.exit, exitMs: nowMs },
        effects: [{ kind: "signal", signal: "SIGKILL" }],
      };
    case "drained":
      if (state.phase === "ended" || !state.exit) return still(state);
      return settle({ ...state, dropped: { ...state.dropped, lines: input.lostLines ?? 0 } }, input.tail, nowMs);
  }
}

/** Without a last word the child can be of no more use, even if its process lives. */
function loseChannel(state: ChildState, torn: string | undefined, nowMs: number): Step {
  if (state.phase === "ended") return still(state);
  const closed: ChildState = { ...state, channelOpen: false, ...(torn !== undefined && { torn }) };
  if (state.terminal || state.exit) return still(closed);
  return then(endFor(closed, undefined, nowMs), (state) => ({ state, effects: [{ kind: "close_stdin" }] }));
}

function settle(state: ChildState, tail: string, nowMs: number): Step {
  const effects: ChildEffect[] = [];
  if (state.gate) {
    const { node } = state.gate;
    const closed = closeGate(state.gate, node, "ended");
    effects.push({ kind: "notice", notice: { kind: "gate_closed", node, via: "ended" } });
    if (closed !== "no_such_gate" && closed.undelivered) {
      effects.push({ kind: "notice", notice: { kind: "reply_undelivered", node, via: "ended" } });
    }
  }
  effects.push({ kind: "settle", ending: decideEnding(state, tail, nowMs) });
  const ended: ChildState = { ...state, phase: "ended", channelOpen: false, gate: undefined, pending: new Map() };
  return { state: ended, effects };
}
