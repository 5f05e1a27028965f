import { assertEquals } from "@std/assert";
import { SESSION_STATUSES } from "../../base/mod.ts";
import { encodeFrame, FrameDecoder } from "../mod.ts";
import {
  type Absence,
  assertFault,
  assertFields,
  assertMessageFault,
  type FieldTable,
  withValue,
} from "./field_table_fixture.ts";
import { type AgentMsg, decodeAgent, isTerminalMessage, type TaskOutcome } from "./mod.ts";
import { FULL_TURN_RESULT, TURN_RESULT_FREE, TURN_RESULT_ROWS } from "./payload_fixture.ts";

const REQUIRED = "required", ABSENT = "absent";

const OUTCOME: TaskOutcome = {
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

/** Every message with every field, and its table (control protocol §3). */
const FULL: [AgentMsg, FieldTable][] = [
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
  [{ type: "turn", outcome: OUTCOME }, { fields: OUTCOME_ROWS, free: { "outcome.result": "json" } }],
  [{ type: "result", outcome: OUTCOME }, { fields: OUTCOME_ROWS, free: { "outcome.result": "json" } }],
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
    { type: "tool_request", id: 1, name: "t", args: { a: 1 } },
    { fields: { id: REQUIRED, name: REQUIRED, args: REQUIRED }, free: { args: "json" } },
  ],
  [{ type: "budget_request", id: 2, estimate: 100 }, { fields: { id: REQUIRED, estimate: REQUIRED } }],
  [{ type: "turn_done", turn: FULL_TURN_RESULT }, { fields: TURN_RESULT_ROWS, free: TURN_RESULT_FREE }],
];

Deno.test("decodeAgent: there are thirteen messages, and three of them are the last", () => {
  assertEquals(new Set(FULL.map(([{ type }]) => type)).size, 13);
  const terminal = FULL.map(([message]) => message).filter(isTerminalMessage).map(({ type }) => type);
  assertEquals(terminal, ["result", "failed", "turn_done"]);
  assertEquals(isTerminalMessage({ type: "unknown", tag: "result" }), false);
});

for (const [message, table] of FULL) {
  Deno.test(`decodeAgent: ${message.type}: each field dropped, null and of every wrong kind`, () => {
    assertFields(decodeAgent, message, table);
  });
}

Deno.test("decodeAgent: every message comes back out of its frame, and unknown fields are ignored", () => {
  const minimal: AgentMsg[] = [
    { type: "result", outcome: { status: "cancelled", partial: true, result: null, scheduled: [], subscriptions: [] } },
    { type: "intel_health", all_down: false },
    { type: "event", event: "loop.paused", fields: {} },
  ];
  for (const message of [...FULL.map(([message]) => message), ...minimal]) {
    const [framed] = new FrameDecoder().push(encodeFrame({ ...message, novel: { type: 1 } }));
    assertEquals(decodeAgent(framed), message);
  }
});

Deno.test("decodeAgent: another type, also one that goes down, is handed on by its tag", () => {
  for (const tag of ["novel", "ping", "spawn", "unknown", "toString", "__proto__"]) {
    assertEquals(decodeAgent({ type: tag }), { type: "unknown", tag });
  }
  for (const wrong of [[], null, "s3cret", 7]) assertMessageFault(() => decodeAgent(wrong));
});

Deno.test("decodeAgent: every status is known and no other word", () => {
  const result = { type: "result", outcome: OUTCOME };
  for (const status of SESSION_STATUSES) {
    assertEquals(decodeAgent(withValue(result, "outcome.status", status)), {
      type: "result",
      outcome: { ...OUTCOME, status },
    });
  }
  for (const status of ["ok", "Completed", "", "constructor"]) {
    assertFault(() => decodeAgent(withValue(result, "outcome.status", status)), "outcome.status");
  }
});

Deno.test("decodeAgent: arguments and results are any JSON, the fields of an event an object", () => {
  for (const value of [[], null, "x", 0, false, {}]) {
    assertEquals(decodeAgent({ type: "tool_request", id: 1, name: "t", args: value }), {
      type: "tool_request",
      id: 1,
      name: "t",
      args: value,
    });
  }
  for (const fields of [[], null, "x", 0]) {
    assertFault(() => decodeAgent({ type: "event", event: "e", fields }), "fields");
  }
});

Deno.test("decodeAgent: a transport is one word, never a URL or a host", () => {
  const health = (transport: string) => ({ type: "intel_health", all_down: false, active: { index: 0, transport } });
  for (const transport of ["https", "unix-socket", "x".repeat(32)]) {
    assertEquals<unknown>(decodeAgent(health(transport)), health(transport));
  }
  for (const transport of ["", "https://s3cret", "api.s3cret.example", "HTTPS", "a b", "x".repeat(33)]) {
    assertFault(() => decodeAgent(health(transport)), "active.transport", transport);
  }
});
