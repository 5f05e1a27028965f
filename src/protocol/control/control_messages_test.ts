import { assertEquals } from "@std/assert";
import { encodeFrame, FrameDecoder } from "../mod.ts";
import { assertFault, assertFields, assertMessageFault, wire, withValue } from "./field_table_fixture.ts";
import { type ControlMsg, decodeControl } from "./mod.ts";
import { EVERY_CONTROL } from "./messages_fixture.ts";
import { FULL_PAYLOAD, MINIMAL_PAYLOAD } from "./payload_fixture.ts";

Deno.test("decodeControl: there are ten messages", () => {
  assertEquals(new Set(EVERY_CONTROL.map(([{ type }]) => type)).size, 10);
});

for (const [message, table] of EVERY_CONTROL) {
  Deno.test(`decodeControl: ${message.type}: each field dropped, null and of every wrong kind`, () => {
    assertFields(decodeControl, message, table);
  });
}

Deno.test("decodeControl: every message comes back out of its frame, and unknown fields are ignored", () => {
  const minimal: ControlMsg[] = [
    { type: "spawn", ...MINIMAL_PAYLOAD },
    { type: "inject", message: "" },
    { type: "swap_intel", uri: "", policy: "finish-on-old" },
    { type: "budget_grant", id: 1, ok: true, wait_ms: 0 },
    { type: "tool_result", id: 1, result: null, is_error: false },
  ];
  for (const message of [...EVERY_CONTROL.map(([message]) => message), ...minimal]) {
    const [framed] = new FrameDecoder().push(encodeFrame({ ...message, novel: { type: 1 } }));
    assertEquals(decodeControl(framed), message);
  }
});

Deno.test("decodeControl: a pause is written as exactly its type", () => {
  const pause: ControlMsg = { type: "pause" };
  assertEquals(new TextDecoder().decode(encodeFrame(pause).subarray(4)), '{"type":"pause"}');
});

Deno.test("decodeControl: another type is handed on by its tag, a type that is no word is a fault", () => {
  assertEquals(decodeControl({ type: "novel", seq: "x" }), { type: "unknown", tag: "novel" });
  assertEquals(decodeControl({ type: "pong", seq: 1 }), { type: "unknown", tag: "pong" });
  assertEquals(decodeControl({ type: "x".repeat(64) }), { type: "unknown", tag: "x".repeat(64) });
  for (const type of [undefined, null, 1, "", "x".repeat(65), "a b", "s3cret\n", ["ping"]]) {
    assertFault(() => decodeControl({ type, seq: 1 }), "type", JSON.stringify(type));
  }
  for (const wrong of [[], null, "s3cret", 7, undefined]) assertMessageFault(() => decodeControl(wrong));
});

Deno.test("decodeControl: a field that is only inherited is not there", () => {
  const inherited: unknown = Object.create({ type: "ping", seq: 1 });
  assertFault(() => decodeControl(inherited), "type");
  assertFault(() => decodeControl(JSON.parse('{"type":"ping","__proto__":{"seq":1}}')), "seq");
});

Deno.test("decodeControl: integers up to 2^53-1, ids from 1, a wait of at most a minute", () => {
  const ping: ControlMsg = { type: "ping", seq: 2 ** 53 - 1 };
  assertEquals(decodeControl(ping), ping);
  for (const seq of [2 ** 53, -1, 0.5, 1e308, NaN, -(2 ** 53)]) {
    assertFault(() => decodeControl({ ...ping, seq }), "seq");
  }
  const grant: ControlMsg = { type: "budget_grant", id: 1, ok: true, wait_ms: 60_000 };
  assertEquals(decodeControl(grant), grant);
  assertFault(() => decodeControl({ ...grant, id: 0 }), "id");
  assertFault(() => decodeControl({ ...grant, wait_ms: 60_001 }), "wait_ms");
  assertFault(() => decodeControl({ type: "tool_result", id: 0, result: 1, is_error: false }), "id");
});

Deno.test("decodeControl: a fault names the byte where the payload began, when that is known", () => {
  const decoder = new FrameDecoder();
  const good = encodeFrame({ type: "pause" });
  const bad = encodeFrame({ type: "ping", seq: "s3cret" });
  assertEquals([...decoder.push(good)], [{ type: "pause" }]);
  for (const message of decoder.push(bad)) {
    assertFault(
      () => decodeControl(message, decoder.payloadOffset),
      `seq is not an integer from 0 to 2^53-1, payload at byte ${good.length + 4}`,
    );
  }
  assertEquals(decoder.payloadOffset, good.length + 4);
});

Deno.test("decodeControl: what a spawn must not hold", () => {
  const spawn = { type: "spawn", ...FULL_PAYLOAD };
  const refuse = (path: string, ...wrongs: unknown[]) => {
    for (const wrong of wrongs) {
      assertFault(() => decodeControl(withValue(spawn, path, wrong)), path, `${path}: ${wrong}`);
    }
  };
  for (const limit of ["max_steps", "max_tokens", "deadline_ms", "max_depth", "memory_bytes", "cpu_seconds"]) {
    refuse(`limits.${limit}`, 0);
  }
  refuse("limits.nice", -21, 20);
  refuse("capsule.digest", "sha256:5a", `sha256:${"5A".repeat(32)}`, "5a".repeat(32), `sha256:${"5a".repeat(32)}0`);
  refuse("capsule.path", "", "count", "./count", "/a\0b");
  refuse("places.session_id", "ses_1", `tsk_${"0".repeat(32)}`, `ses_${"0".repeat(31)}/`);
  refuse("telemetry.agent_path", "", ".", "0.", "0..1", "a", "0.1/2");
  refuse("telemetry.log_level", "INFO", "");
  refuse("context_seed[1].role", "boll/allowed-tool", "Boll/allowed-tools", "developer");
  refuse("turn.temperature", 100.5, -1);
  for (const path of ["intelligence.headers", "env", "mcp_servers[0].headers"]) {
    for (const pair of [["a"], ["a", "b", "c"], ["a", 1], [null, "b"], "ab", { 0: "a", 1: "b" }]) {
      assertFault(() => decodeControl(withValue(spawn, path, [pair])), `${path}[0]`);
    }
  }
  for (const path of ["args", "gated_tools", "upstream.ca_certs", "turn.internal", "grants.env"]) {
    for (const item of [1, null, ["a"]]) {
      assertFault(() => decodeControl(withValue(spawn, path, ["a", item])), `${path}[1]`);
    }
  }
  assertFault(
    () => decodeControl(withValue(spawn, "turn.mcp_routes", { a: ["b", "c"], s3cret: "x" })),
    "turn.mcp_routes[1]",
  );
});

Deno.test("decodeControl: a spawn has a model unless it is a command's, and a turn when its role is one", () => {
  const { intelligence: _, turn: __, ...bare } = wire({ type: "spawn", ...FULL_PAYLOAD });
  const command = { ...bare, role: "command" };
  assertEquals(decodeControl(command), command as unknown as ControlMsg);
  assertFault(() => decodeControl({ ...bare, role: "agent" }), "intelligence");
  const agent = { ...bare, role: "agent", intelligence: { ...FULL_PAYLOAD.intelligence } };
  assertEquals(decodeControl(agent), agent as unknown as ControlMsg);
  assertFault(() => decodeControl({ ...agent, role: "turn" }), "turn");
});
