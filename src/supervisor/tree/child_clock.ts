import { endFor, still, walkLadder } from "./child_ladder.ts";
import type { ChildState, EndReason, Step } from "./child_state.ts";
import { judgeLiveness, pingIntervalMs, type Verdict } from "./liveness.ts";

/** A tick that comes so much later than it was asked for was held up by the supervisor's own standstill, ms. */
const STANDSTILL_MS = 2_000;

/** What the child's clocks say. */
export function verdictOf(state: ChildState, nowMs: number): Verdict {
  const { channelOpen, progressMs, pongMs, deadlineMs, turnOpen } = state;
  const facts = { channelOpen, nowMs, progressMs, pongMs, deadlineMs, isIdle: !turnOpen };
  return judgeLiveness(facts, state.rules.timings.liveness);
}

/** When the child has to be looked at next; undefined when only it can move. */
export function wakeAtMs(state: ChildState): number | undefined {
  const { timings } = state.rules;
  switch (state.phase) {
    case "starting":
      return state.startedMs + timings.readyMs;
    case "running":
    case "paused":
      return Math.min(state.pingedMs + pingIntervalMs(timings.liveness), state.deadlineMs ?? Infinity);
    case "ending":
      return state.exit || !state.ladder || state.ladder.step === "killed" ? undefined : state.ladder.nextMs;
    case "ended":
      return undefined;
  }
}

/** Time has passed. */
export function tick(state: ChildState, nowMs: number): Step {
  switch (state.phase) {
    case "starting": {
      if (nowMs < state.startedMs + state.rules.timings.readyMs) return still(state);
      const detail = `the session was not ready within ${state.rules.timings.readyMs} ms`;
      return endFor(state, { status: "failed", ended_by: "not_ready", detail }, nowMs);
    }
    case "running":
    case "paused":
      return watch(forgiveStandstill(state, nowMs), nowMs);
    case "ending":
      return walkLadder(state, nowMs);
    case "ended":
      return still(state);
  }
}

function watch(state: ChildState, nowMs: number): Step {
  const reason = reasonToEnd(state, nowMs);
  if (reason) return endFor(state, reason, nowMs);
  if (nowMs < state.pingedMs + pingIntervalMs(state.rules.timings.liveness)) return still(state);
  const pingSeq = state.pingSeq + 1;
  return {
    state: { ...state, pingSeq, pingedMs: nowMs },
    effects: [{ kind: "send", message: { type: "ping", seq: pingSeq } }],
  };
}

function reasonToEnd(state: ChildState, nowMs: number): EndReason | undefined {
  const { liveness, deadlineSlackMs } = state.rules.timings;
  switch (verdictOf(state, nowMs)) {
    case "deadline_exceeded": {
      const detail = `the session was still running ${deadlineSlackMs} ms after its deadline`;
      return { status: "deadline", ended_by: "deadline", detail };
    }
    case "stuck": {
      const detail =
        `the session made no progress for ${liveness.progressMs} ms and answered no ping for ${liveness.pongMs} ms`;
      return { status: "deadline", ended_by: "stuck", detail };
    }
    case "dead":
    case "healthy":
    case "busy":
      return undefined;
  }
}

/** A supervisor that stood still itself (stopped, or a machine asleep) blames no child for it. */
function forgiveStandstill(state: ChildState, nowMs: number): ChildState {
  const lateMs = nowMs - (state.pingedMs + pingIntervalMs(state.rules.timings.liveness));
  if (lateMs < STANDSTILL_MS) return state;
  return {
    ...state,
    progressMs: Math.min(nowMs, state.progressMs + lateMs),
    pongMs: Math.min(nowMs, state.pongMs + lateMs),
  };
}
