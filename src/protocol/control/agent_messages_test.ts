import { assertEquals } from "@std/assert";
import { SESSION_STATUSES } from "../../base/mod.ts";
import { encodeFrame, FrameDecoder } from "../mod.ts";
import { assertFault, assertFields, assertMessageFault, withValue } from "./field_table_fixture.ts";
import { type AgentMsg, decodeAgent, isTerminalMessage } from "./mod.ts";
import { EVERY_AGENT, FULL_OUTCOME } from "./messages_fixture.ts";

Deno.test("decodeAgent: there are thirteen messages, and three of them are the last", () => {
  assertEquals(new Set(EVERY_AGENT.map(([{ type }]) => type)).size, 13);
  const terminal = EVERY_AGENT.map(([message]) => message).filter(isTerminalMessage).map(({ type }) => type);
  assertEquals(terminal, ["result", "failed", "turn_done"]);
  assertEquals(isTerminalMessage({ type: "unknown", tag: "result" }), false);
});

for (const [message, table] of EVERY_AGENT) {
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
  for (const message of [...EVERY_AGENT.map(([message]) => message), ...minimal]) {
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
  const result = { type: "result", outcome: FULL_OUTCOME };
  for (const status of SESSION_STATUSES) {
    assertEquals(decodeAgent(withValue(result, "outcome.status", status)), {
      type: "result",
      outcome: { ...FULL_OUTCOME, status },
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

Deno.test("decodeAgent: ids are minted from 1, integers go up to 2^53-1", () => {
  for (const request of [{ type: "tool_request", name: "t", args: {} }, { type: "budget_request", estimate: 0 }]) {
    for (const id of [1, 2 ** 53 - 1]) assertEquals<unknown>(decodeAgent({ ...request, id }), { ...request, id });
    for (const id of [0, 2 ** 53]) assertFault(() => decodeAgent({ ...request, id }), "id");
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
