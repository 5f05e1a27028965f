import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { FROM_CELL, TO_CELL } from "./cell_messages_fixture.ts";
import {
  decodeChunkData,
  decodeFromCell,
  decodeToCell,
  encodeChunkData,
  MAX_CHUNK_BYTES,
  MAX_END_TEXT,
  MAX_HEAD_BYTES,
  MAX_HEAD_FIELDS,
  MAX_REFUSAL,
  STREAM_WINDOW_BYTES,
} from "./mod.ts";

function wire(message: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(message));
}

/** Every way to write one leaf of `message` wrongly, with its dotted path. */
function* withBrokenLeaf(message: Record<string, unknown>, path = ""): Generator<[string, Record<string, unknown>]> {
  for (const [key, value] of Object.entries(message)) {
    if (key === "type" || key === "value") continue;
    const wrongs = typeof value === "number" ? [-1, 1.5, 2 ** 53, "1", null, []] : [{ toString: 1 }, null, 7];
    for (const wrong of wrongs) {
      yield [`${path}${key}`, { ...message, [key]: wrong }];
    }
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      for (const [at, broken] of withBrokenLeaf(value as Record<string, unknown>, `${path}${key}.`)) {
        yield [at, { ...message, [key]: broken }];
      }
    }
  }
}

Deno.test("decodeFromCell: every message round-trips; unknown fields are dropped, an unknown type is undefined", () => {
  for (const message of FROM_CELL) assertEquals(decodeFromCell({ ...wire(message), extra: 1 }), message);
  assertEquals(decodeFromCell({ type: "novel" }), undefined);
});

Deno.test("decodeToCell: every message round-trips; an unknown type is refused", () => {
  for (const message of TO_CELL) assertEquals(decodeToCell({ ...wire(message), extra: 1 }), message);
  assertEquals(assertThrows(() => decodeToCell({ type: "novel" }), CapsuleError).code, "protocol.unexpected");
});

Deno.test("decode: a missing or wrong field is a fault that names it and never shows the value", () => {
  const cases = [
    ...FROM_CELL.map((message) => [decodeFromCell, wire(message)] as const),
    ...TO_CELL.map((message) => [decodeToCell, wire(message)] as const),
  ];
  for (const [decode, message] of cases) {
    for (const [path, broken] of withBrokenLeaf(message)) {
      const error = assertThrows(() => decode(broken), CapsuleError);
      assertEquals(error.code, "protocol.bad_field", `${message["type"]} ${path}`);
      assertMatch(error.message, new RegExp(path.split(".").at(-1)!));
    }
  }
});

Deno.test("decodeFromCell: bounds on what an enemy may say", () => {
  const ended = { type: "ended", kind: "exit", code: 256 };
  assertThrows(() => decodeFromCell(ended), CapsuleError);
  assertEquals(decodeFromCell({ ...ended, code: 255 })?.type, "ended");
  const long = { type: "denied", wall: 1, grant: "fs", allow: "", asked: "x".repeat(8_193) };
  assertThrows(() => decodeFromCell(long), CapsuleError);
  assertEquals(decodeFromCell({ ...long, asked: "x".repeat(8_192) })?.type, "denied");
  const call = { type: "host_call", id: 0, name: "resolve", args: { name: "x".repeat(256) } };
  assertThrows(() => decodeFromCell(call), CapsuleError);
  assertEquals(decodeFromCell({ ...call, args: { name: "x".repeat(255) } })?.type, "host_call");
  assertThrows(() => decodeFromCell({ ...call, name: "delegate" }), CapsuleError);
});

Deno.test("decodeFromCell: bounds of a delegation that is asked for, each at its limit and one beyond", () => {
  const fits = { capsule: "a", task: "", mounts: [] as string[][] };
  const call = (args: object) => ({ type: "host_call", id: 0, name: "delegate", args });
  const long = (length: number) => "x".repeat(length);
  const table: readonly (readonly [field: string, allowed: readonly unknown[], refused: readonly unknown[]])[] = [
    ["capsule", [long(256)], ["", long(257)]],
    ["version", [long(128)], ["", long(129)]],
    ["task", [long(256 * 1024)], [long(256 * 1024 + 1)]],
    ["deadline_ms", [1, 2 ** 31 - 1], [0, 2 ** 31]],
    [
      "mounts",
      [Array(64).fill(["/a", "/b"]), [[long(4_096), long(4_096)]]],
      [Array(65).fill(["/a", "/b"]), [["/a", long(4_097)]], [["", "/b"]], [["/a"]], [["/a", "/b", "/c"]], ["/a"]],
    ],
  ];
  for (const [field, allowed, refused] of table) {
    for (const value of allowed) {
      const message = call({ ...fits, [field]: value });
      assertEquals<unknown>(decodeFromCell(message), message);
    }
    for (const value of refused) {
      const error = assertThrows(() => decodeFromCell(call({ ...fits, [field]: value })), CapsuleError);
      assertEquals(error.code, "protocol.bad_field");
      assertMatch(
        error.message,
        new RegExp(`^Read a message: message\\.args\\.${field}(\\[0\\](\\[\\d\\])?)? is not `),
      );
    }
  }
});

Deno.test("decodeToCell: a delegation's id is one, its refusal and its end have bounds", () => {
  const id = `dlg_${"0".repeat(32)}`;
  const started = (delegation_id: unknown) => ({ type: "host_result", id: 0, value: { delegation_id } });
  const ended = { type: "delegation_end", delegation_id: id, text: "x".repeat(MAX_END_TEXT) };
  const refused = { type: "host_result", id: 0, error: { kind: "failed", message: "x".repeat(MAX_REFUSAL) } };
  for (const message of [started(id), ended, refused]) assertEquals<unknown>(decodeToCell(message), message);
  const bad = [
    ...["", "../dlg_1", `ses_${"0".repeat(32)}`, `${id}0`, `dlg_${"A".repeat(32)}`, 7, null].flatMap((wrong) => [
      started(wrong),
      { ...ended, delegation_id: wrong },
    ]),
    { ...ended, text: `${ended.text}x` },
    { ...refused, error: { ...refused.error, message: `${refused.error.message}x` } },
    { ...refused, error: { ...refused.error, kind: "ok" } },
    { type: "host_result", id: 0, value: {} },
  ];
  for (const message of bad) {
    assertEquals(assertThrows(() => decodeToCell(message), CapsuleError).code, "protocol.bad_field");
  }
});

Deno.test("decodeFromCell: bounds of a head, a chunk, a credit and a log", () => {
  const refuse = (message: object) => {
    assertEquals(assertThrows(() => decodeFromCell(wire(message)), CapsuleError).code, "protocol.bad_field");
  };
  const allow = (message: object) => assertEquals(decodeFromCell(wire(message)) !== undefined, true);
  const head = { type: "head", id: 0, status: 200, headers: [] as string[][] };
  for (const status of [200, 599]) allow({ ...head, status });
  for (const status of [0, 101, 199, 600]) refuse({ ...head, status });
  for (const value of ["a\r\nb: c", "a\nb", "a\0", "\x7f", "\u0100"]) refuse({ ...head, headers: [["x", value]] });
  for (const name of ["", "a b", "a:", "a\r\n", "é"]) refuse({ ...head, headers: [[name, "v"]] });
  allow({ ...head, headers: Array(MAX_HEAD_FIELDS).fill(["a", "b"]) });
  refuse({ ...head, headers: Array(MAX_HEAD_FIELDS + 1).fill(["a", "b"]) });
  allow({ ...head, headers: [["a", "b".repeat(MAX_HEAD_BYTES - 1)]] });
  refuse({ ...head, headers: [["a", "b".repeat(MAX_HEAD_BYTES)]] });
  const chunk = { type: "chunk", id: 0, stream: "response", end: false };
  allow({ ...chunk, data: encodeChunkData(new Uint8Array(MAX_CHUNK_BYTES)) });
  refuse({ ...chunk, data: encodeChunkData(new Uint8Array(MAX_CHUNK_BYTES + 3)) });
  allow({ type: "credit", id: 0, stream: "request", bytes: STREAM_WINDOW_BYTES });
  refuse({ type: "credit", id: 0, stream: "request", bytes: STREAM_WINDOW_BYTES + 1 });
  allow({ type: "log", id: 0, stream: "stdout", text: "x".repeat(8_192) });
  refuse({ type: "log", id: 0, stream: "stdout", text: "x".repeat(8_193) });
});

Deno.test("decodeChunkData: what was encoded, and nothing that is not base64", () => {
  const chunk = (data: string) => ({ type: "chunk", id: 0, stream: "response", data, end: true } as const);
  const bytes = new Uint8Array([0, 255, 10]);
  assertEquals(decodeChunkData(chunk(encodeChunkData(bytes))), bytes);
  assertEquals(assertThrows(() => decodeChunkData(chunk("%%%")), CapsuleError).code, "protocol.bad_field");
});

Deno.test("decode: no inherited property is a field", () => {
  const inherited = Object.create({ type: "pong", seq: 1 }) as Record<string, unknown>;
  assertThrows(() => decodeFromCell(inherited), CapsuleError);
  assertThrows(() => decodeFromCell(JSON.parse('{"__proto__":{"type":"pong","seq":1}}')), CapsuleError);
});
