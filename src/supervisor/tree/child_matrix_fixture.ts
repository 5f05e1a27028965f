/** Every place of a child, and everything that can happen to it. */
import {
  brief,
  CANCEL,
  command,
  DRAINED,
  EXIT,
  frame,
  KILLED,
  Life,
  outcome,
  READY,
  RESULT,
  STOP,
} from "./child_fixture.ts";
import { step } from "./child_machine.ts";
import type { ChildInput, ChildRules } from "./child_state.ts";

/** One that these inputs have happened to. */
export function live(rules: Partial<ChildRules>, ...inputs: readonly ChildInput[]): Life {
  const life = new Life(rules);
  life.feed(...inputs);
  return life;
}

const PAUSE = command({ kind: "pause" });
const ASK = frame({ type: "tool_request", id: 7, name: "t", args: {} });
const GATE = frame({ type: "gate", node: "n", payload: {} });
const TURN_START = frame({ type: "event", event: "turn.start", fields: {} });
const TURN = frame({ type: "turn", outcome: outcome() });

/** Places: each phase, and of those that remember something, each memory that changes an answer. */
export const PLACES: Readonly<Record<string, () => Life>> = {
  "starting": () => live({}),
  "running": () => live({}, READY),
  "running, asked": () => live({}, READY, ASK, GATE),
  "warm, idle": () => live({ warm: true }, READY, TURN),
  "door, idle": () => live({ warm: true, hasDoor: true }, READY),
  "door, in a turn": () => live({ warm: true, hasDoor: true }, READY, TURN_START),
  "paused": () => live({}, READY, PAUSE),
  "cancelled": () => live({}, READY, CANCEL),
  "told its result": () => live({}, READY, RESULT),
  "broken": () => live({}, READY, { kind: "fault", detail: "rule" }),
  "exited": () => live({}, READY, KILLED),
  "ended": () => live({}, READY, RESULT, EXIT, DRAINED),
};

/** All frames, all that happens to a process, all commands. */
export const MATRIX_INPUTS: Readonly<Record<string, ChildInput>> = {
  "ready": READY,
  "pong": frame({ type: "pong", seq: 1 }),
  "event child.up": frame({ type: "event", event: "child.up", fields: {} }),
  "event": frame({ type: "event", event: "turn.round", fields: { round: 1 } }),
  "event turn.start": TURN_START,
  "usage": frame({ type: "usage", input_tokens: 1, output_tokens: 2 }),
  "turn": TURN,
  "result": RESULT,
  "failed": frame({ type: "failed", error: { code: "model.unreachable", message: "no answer" } }),
  "turn_done": frame({
    type: "turn_done",
    turn: {
      status: "completed",
      messages: [],
      usage: { input_tokens: 0, output_tokens: 0 },
      rounds: 1,
      tool_calls: 0,
    },
  }),
  "gate": GATE,
  "gate_closed": frame({ type: "gate_closed", node: "n", via: "reply" }),
  "intel_health": frame({ type: "intel_health", all_down: true }),
  "tool_request": frame({ type: "tool_request", id: 8, name: "t", args: {} }),
  "tool_request, same id": ASK,
  "budget_request": frame({ type: "budget_request", id: 9, estimate: 5 }),
  "unknown": { kind: "frame", message: { type: "unknown", tag: "later" } },
  "fault": { kind: "fault", detail: "rule" },
  "blocked": { kind: "blocked", detail: "full" },
  "not_started": { kind: "not_started", detail: "no such program" },
  "eof": { kind: "eof" },
  "eof, torn": { kind: "eof", torn: "torn" },
  "exit": EXIT,
  "killed": KILLED,
  "drained": DRAINED,
  "tick, early": { kind: "tick" },
  "tick, 4 s": { kind: "tick" },
  "tick, 8 s": { kind: "tick" },
  "tick, 12 min": { kind: "tick" },
  "pause": PAUSE,
  "resume": command({ kind: "resume" }),
  "cancel": CANCEL,
  "kill": command({ kind: "kill", reason: STOP }),
  "close": command({ kind: "close" }),
  "inject": command({ kind: "inject", message: "more" }),
  "reply": command({ kind: "reply", node: "n", message: "yes" }),
  "swap": command({ kind: "swap", swap: { uri: "http://m", policy: "finish-on-old" } }),
  "answer": command({ kind: "answer", message: { type: "tool_result", id: 7, result: 1, is_error: false } }),
  "answer, wrong kind": command({ kind: "answer", message: { type: "budget_grant", id: 7, ok: true, wait_ms: 0 } }),
};

const WAITS_MS: Readonly<Record<string, number>> = { "tick, 4 s": 4_000, "tick, 8 s": 8_000, "tick, 12 min": 720_000 };

/** What the input leads to at that place: the next phase and the effects, in short. */
export function row(place: string, name: string): string {
  const life = PLACES[place]!();
  life.nowMs += WAITS_MS[name] ?? 0;
  const next = step(life.state, MATRIX_INPUTS[name]!, life.nowMs);
  return [next.state.phase, ...next.effects.map(brief)].join(" ");
}
