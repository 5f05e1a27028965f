/** A child at every place it can be at, and what can happen to it: for the tests of its machine. */
import type { AgentMsg, TaskOutcome } from "../../protocol/control/mod.ts";
import { step } from "./child_machine.ts";
import {
  CHILD_TIMINGS,
  type ChildCommand,
  type ChildEffect,
  type ChildInput,
  type ChildRules,
  type ChildState,
  type EndReason,
  newChild,
} from "./child_state.ts";

export const RULES: ChildRules = {
  warm: false,
  role: "agent",
  maxTokens: 1_000,
  deadlineMs: 600_000,
  memoryLimited: false,
  timings: CHILD_TIMINGS,
};

export const STOP: EndReason = { status: "cancelled", ended_by: "terminated", detail: "stopped" };

export function outcome(fields: Partial<TaskOutcome> = {}): TaskOutcome {
  return { status: "completed", partial: false, result: "42", scheduled: [], subscriptions: [], ...fields };
}

export function frame(message: AgentMsg): ChildInput {
  return { kind: "frame", message };
}

export function command(command: ChildCommand): ChildInput {
  return { kind: "command", command };
}

export const READY = frame({ type: "ready" });
export const EXIT: ChildInput = { kind: "exit", exit: { code: 0, signal: null } };
export const KILLED: ChildInput = { kind: "exit", exit: { code: 137, signal: "SIGKILL" } };
export const DRAINED: ChildInput = { kind: "drained", tail: "" };
export const RESULT = frame({ type: "result", outcome: outcome() });
export const CANCEL = command({ kind: "cancel", reason: STOP });

/** One child and its clock: feeds inputs, keeps what followed. */
export class Life {
  state: ChildState;
  nowMs = 0;
  readonly effects: ChildEffect[] = [];

  constructor(rules: Partial<ChildRules> = {}) {
    this.state = newChild({ ...RULES, ...rules }, 0);
  }

  /** Feeds the inputs one after the other; what the last one led to. */
  feed(...inputs: readonly ChildInput[]): readonly ChildEffect[] {
    let effects: readonly ChildEffect[] = [];
    for (const input of inputs) {
      ({ state: this.state, effects } = step(this.state, input, this.nowMs));
      this.effects.push(...effects);
    }
    return effects;
  }

  /** Lets time pass, then ticks. */
  wait(ms: number): readonly ChildEffect[] {
    this.nowMs += ms;
    return this.feed({ kind: "tick" });
  }

  /** How it ended; a second ending is a failure of whoever asks. */
  get ending() {
    const endings = this.effects.filter((effect) => effect.kind === "settle");
    if (endings.length !== 1) throw new Error(`Find the ending: ${endings.length} were told`);
    return endings[0]!.ending;
  }
}

/** An effect in one word or two. */
export function brief(effect: ChildEffect): string {
  switch (effect.kind) {
    case "send":
      return `>${effect.message.type}`;
    case "signal":
      return effect.signal;
    case "told":
      return `told:${effect.verdict}`;
    case "notice":
      return `!${effect.notice.kind}`;
    case "settle":
      return `settle:${effect.ending.status}/${effect.ending.ended_by}`;
    default:
      return effect.kind;
  }
}

/** What a model cost. */
export function usage(input: number, output: number): ChildInput {
  return frame({ type: "usage", input_tokens: input, output_tokens: output });
}

/** Something that a session did. */
export function event(name: string, fields: Record<string, unknown> = {}): ChildInput {
  return frame({ type: "event", event: name, fields });
}
