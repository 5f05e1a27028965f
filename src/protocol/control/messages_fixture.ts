import type { Absence, FieldTable } from "./field_table_fixture.ts";
import type { AgentMsg, ControlMsg, TaskOutcome } from "./mod.ts";
import {
  FULL_PAYLOAD,
  FULL_TURN_RESULT,
  PAYLOAD_FREE,
  PAYLOAD_ROWS,
  TURN_RESULT_FREE,
  TURN_RESULT_ROWS,
} from "./payload_fixture.ts";

const REQUIRED = "required", ABSENT = "absent";

/** Every message of a supervisor with every field, and its table. */
export const EVERY_CONTROL: readonly (readonly [ControlMsg, FieldTable])[] = [
  [{ type: "spawn", ...FULL_PAYLOAD }, { fields: PAYLOAD_ROWS, free: PAYLOAD_FREE }],
  [{ type: "ping", seq: 0 }, { fields: { seq: REQUIRED } }],
  [{ type: "pause" }, { fields: {} }],
  [{ type: "resume" }, { fields: {} }],
  [{ type: "cancel", reason: "r" }, { fields: { reason: REQUIRED } }],
  [{ type: "cancel_turn" }, { fields: {} }],
  [{ type: "inject", message: "é", node: "n" }, { fields: { message: REQUIRED, node: ABSENT } }],
  [
    {
      type: "swap_intel",
      uri: "https://a.example",
      token: "t",
      model: "m",
      headers: [["a", "b"]],
      dialect: "openai",
      policy: "restart-turn",
    },
    {
      fields: {
        uri: REQUIRED,
        token: ABSENT,
        model: ABSENT,
        headers: ABSENT,
        dialect: ABSENT,
        policy: { default: "finish-on-old" },
      },
    },
  ],
  [
    { type: "tool_result", id: 1, result: [null], is_error: true },
    { fields: { id: REQUIRED, result: REQUIRED, is_error: REQUIRED }, free: { result: "json" } },
  ],
  [
    { type: "budget_grant", id: 1, ok: false, wait_ms: 100, model: "m", reason: "r" },
    { fields: { id: REQUIRED, ok: REQUIRED, wait_ms: REQUIRED, model: ABSENT, reason: ABSENT } },
  ],
];

export const FULL_OUTCOME: TaskOutcome = {
  status: "completed",
  partial: false,
  result: "seven",
  scheduled: [{ after_ms: 1, instruction: "again" }],
  subscriptions: [{ uri: "file:///x", action: "read", condition: "changed" }],
};

const OUTCOME_ROWS: Record<string, Absence> = {
  outcome: REQUIRED,
  "outcome.status": REQUIRED,
  "outcome.partial": REQUIRED,
  "outcome.result": REQUIRED,
  "outcome.scheduled": { default: [] },
  "outcome.scheduled[0].after_ms": REQUIRED,
  "outcome.scheduled[0].instruction": REQUIRED,
  "outcome.subscriptions": { default: [] },
  "outcome.subscriptions[0].uri": REQUIRED,
  "outcome.subscriptions[0].action": REQUIRED,
  "outcome.subscriptions[0].condition": ABSENT,
};

/** Every message of a session with every field, and its table. */
export const EVERY_AGENT: readonly (readonly [AgentMsg, FieldTable])[] = [
  [{ type: "ready" }, { fields: {} }],
  [{ type: "pong", seq: 7 }, { fields: { seq: REQUIRED } }],
  [
    { type: "event", event: "turn.think", fields: { turn: 1, round: 2 } },
    { fields: { event: REQUIRED, fields: REQUIRED }, free: { fields: "object" } },
  ],
  [
    { type: "usage", input_tokens: 1, output_tokens: 2 },
    { fields: { input_tokens: { default: 0 }, output_tokens: { default: 0 } } },
  ],
  [{ type: "turn", outcome: FULL_OUTCOME }, { fields: OUTCOME_ROWS, free: { "outcome.result": "json" } }],
  [{ type: "result", outcome: FULL_OUTCOME }, { fields: OUTCOME_ROWS, free: { "outcome.result": "json" } }],
  [
    { type: "failed", error: { code: "model.unreachable", message: "no" } },
    { fields: { error: REQUIRED, "error.code": REQUIRED, "error.message": REQUIRED } },
  ],
  [
    { type: "gate", node: "n", payload: { question: "?" } },
    { fields: { node: REQUIRED, payload: REQUIRED }, free: { payload: "json" } },
  ],
  [{ type: "gate_closed", node: "n", via: "reply" }, { fields: { node: REQUIRED, via: REQUIRED } }],
  [
    { type: "intel_health", all_down: true, active: { index: 0, transport: "https" } },
    { fields: { all_down: REQUIRED, active: ABSENT, "active.index": REQUIRED, "active.transport": REQUIRED } },
  ],
  [
    { type: "tool_request", id: 1, name: "t", args: { a: 1 }, idempotency_key: "ctx/1/k" },
    { fields: { id: REQUIRED, name: REQUIRED, args: REQUIRED, idempotency_key: ABSENT }, free: { args: "json" } },
  ],
  [{ type: "budget_request", id: 2, estimate: 100 }, { fields: { id: REQUIRED, estimate: REQUIRED } }],
  [{ type: "turn_done", turn: FULL_TURN_RESULT }, { fields: TURN_RESULT_ROWS, free: TURN_RESULT_FREE }],
];
