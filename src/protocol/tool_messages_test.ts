import { assertEquals, assertThrows } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { TO_CELL } from "./cell_messages_fixture.ts";
import {
  decodeFromCell,
  decodeToCell,
  decodeToolAnswer,
  decodeToolDescription,
  decodeToolText,
  encodeToolText,
  MAX_QUESTION,
  MAX_TOOL_DESCRIPTION,
  MAX_TOOL_NAME,
  MAX_TOOL_SCHEMA,
  MAX_TOOL_TEXT_BYTES,
  MAX_TOOL_WORD,
} from "./mod.ts";

function refused(decode: () => unknown): void {
  assertEquals(assertThrows(decode, CapsuleError).code, "protocol.bad_field");
}

/** `make` gives a message whose text has that many characters: at the limit it is read, and not one beyond. */
function bounded(max: number, make: (text: string) => Record<string, unknown>): void {
  decodeFromCell(make("x".repeat(max)));
  refused(() => decodeFromCell(make("x".repeat(max + 1))));
}

Deno.test("encodeToolText: what it gives is read back; one byte more than 4 MiB is not encoded", () => {
  for (const text of ["", "grüße 漢😀", "\ufeff\0\u001b", "x".repeat(MAX_TOOL_TEXT_BYTES)]) {
    assertEquals(decodeToolText(encodeToolText(text)!), text);
  }
  assertEquals(encodeToolText("\ud800"), encodeToolText("\ufffd"));
  for (const text of ["x".repeat(MAX_TOOL_TEXT_BYTES + 1), "ü".repeat(MAX_TOOL_TEXT_BYTES / 2) + "x"]) {
    assertEquals(encodeToolText(text), undefined);
  }
});

Deno.test("decodeToolAnswer: base64 of UTF-8 and a yes or no, and nothing else", () => {
  assertEquals(decodeToolAnswer({ ok: true, text: "Z3LDvMOfZQ==", more: 1 }), { ok: true, text: "grüße" });
  assertEquals(decodeToolAnswer({ ok: false, text: "" }), { ok: false, text: "" });
  for (const text of ["?", "/w==", "4oI=", 7, null, undefined, [], "A".repeat(MAX_TOOL_TEXT_BYTES * 2)]) {
    refused(() => decodeToolAnswer({ ok: true, text }));
  }
  for (const value of [null, "x", [], 7, undefined, { text: "" }, { ok: 1, text: "" }]) {
    refused(() => decodeToolAnswer(value));
  }
});

Deno.test("decodeToolDescription: texts within bounds", () => {
  const said = { name: "n", description: "d", input_schema: "{}", mutates: false };
  assertEquals(decodeToolDescription({ ...said, more: 1 }), said);
  const bounds = { name: MAX_TOOL_NAME, description: MAX_TOOL_DESCRIPTION, input_schema: MAX_TOOL_SCHEMA };
  for (const [field, max] of Object.entries(bounds)) {
    decodeToolDescription({ ...said, [field]: "x".repeat(max) });
    refused(() => decodeToolDescription({ ...said, [field]: "x".repeat(max + 1) }));
  }
  for (const field of Object.keys(said)) {
    for (const wrong of [undefined, null, 7, [], {}]) {
      refused(() => decodeToolDescription({ ...said, [field]: wrong }));
    }
  }
});

Deno.test("decodeFromCell: what a tool says beside its answer is bounded", () => {
  const call = (name: string, args: object) => ({ type: "host_call", id: 1, name, args: { call: 0, ...args } });
  bounded(MAX_TOOL_WORD, (text) => call("log", { level: "info", text }));
  bounded(MAX_TOOL_WORD, (text) => call("emit", { text }));
  bounded(MAX_QUESTION, (question) => call("request-input", { question }));
  refused(() => decodeFromCell(call("log", { level: "fatal", text: "" })));
  refused(() => decodeFromCell(call("exec", { text: "" })));
});

Deno.test("decodeToCell: tools are 1 to 100, each name once, and calls are bounded", () => {
  const load = TO_CELL.find((message) => message.type === "load" && message.kind === "tools")!;
  const { tools } = load as unknown as { tools: readonly object[] };
  const many = (count: number) => Array.from({ length: count }, (_, at) => ({ ...tools[0], name: `t${at}` }));
  assertEquals(decodeToCell({ ...load, tools: many(100) }).type, "load");
  for (const wrong of [[], many(101), [tools[0], tools[0]], [null], "x"]) {
    refused(() => decodeToCell({ ...load, tools: wrong }));
  }
  const call = { type: "call", id: 1, tool: "t", input: "" };
  refused(() => decodeToCell({ ...call, tool: "x".repeat(MAX_TOOL_NAME + 1) }));
  refused(() => decodeToCell({ ...call, input: "A".repeat(MAX_TOOL_TEXT_BYTES * 2) }));
});
