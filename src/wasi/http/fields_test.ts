import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { thrown } from "../host_fixture.ts";
import { utf8 } from "../net/stream_fixture.ts";
import { entriesOf, Fields, freeze, receivedFields } from "./fields.ts";

Deno.test("fields: names are equal whatever their case, kept as written; values keep their order", () => {
  const fields = Fields.fromList([["X-One", utf8("a")], ["x-two", utf8("b")], ["x-one", utf8("")]]);
  assertEquals(fields.get("X-ONE"), [utf8("a"), utf8("")]);
  assertEquals([fields.has("x-ONE"), fields.has("x-three"), fields.get("not a token")], [true, false, []]);
  fields.append("X-Two", utf8("c"));
  fields.set("x-one", [utf8("z")]);
  assertEquals(fields.entries(), [["x-two", utf8("b")], ["X-Two", utf8("c")], ["x-one", utf8("z")]]);
  fields.delete("X-TWO");
  assertEquals(fields.entries().length, 1);
});

Deno.test("fields: names are tokens, values without CR, LF, NUL or another control; a tab and bytes above 127 are fine", () => {
  const fields = new Fields();
  for (const name of ["", "a b", "a:b", "a\r\nb", "ä", "a\0"]) {
    assertEquals(thrown(() => fields.append(name, utf8("v"))), { tag: "invalid-syntax" }, name);
    assertEquals(thrown(() => fields.delete(name)), { tag: "invalid-syntax" }, name);
  }
  for (const value of ["a\r\nb: c", "a\nb", "\0", "\x7f"]) {
    assertEquals(thrown(() => fields.set("a", [utf8(value)])), { tag: "invalid-syntax" }, JSON.stringify(value));
    assertEquals(thrown(() => Fields.fromList([["a", utf8(value)]])), { tag: "invalid-syntax" });
  }
  fields.append("a", new Uint8Array([9, 32, 200, 255]));
  assertEquals(fields.entries(), [["a", new Uint8Array([9, 32, 200, 255])]]);
});

Deno.test("fields: what a connection says of itself, and the gate's own words, are forbidden", () => {
  const fields = new Fields();
  const names = ["Connection", "Host", "transfer-encoding", "Proxy-Authorization", "upgrade", "keep-alive"];
  for (const name of [...names, "te", "X-Boll-Scheme"]) {
    assertEquals(thrown(() => fields.append(name, utf8("v"))), { tag: "forbidden" }, name);
    assertEquals(thrown(() => Fields.fromList([[name, utf8("v")]])), { tag: "forbidden" }, name);
  }
  fields.append("content-length", utf8("3"));
  assertEquals(fields.has("Content-Length"), true);
});

Deno.test("fields: those of a message cannot be changed, a clone of them can", () => {
  const fields = Fields.fromList([["a", utf8("1")]]);
  freeze(fields);
  for (const frozen of [fields, receivedFields([["a", "1"]])]) {
    assertEquals(thrown(() => frozen.append("b", utf8("2"))), { tag: "immutable" });
    assertEquals(thrown(() => frozen.set("a", [])), { tag: "immutable" });
    assertEquals(thrown(() => frozen.delete("a")), { tag: "immutable" });
    assertEquals(frozen.get("a"), [utf8("1")]);
    const copy = frozen.clone();
    copy.set("a", [utf8("2")]);
    assertEquals([copy.get("a"), frozen.get("a")], [[utf8("2")], [utf8("1")]]);
  }
});

Deno.test("fields: a guest's own types trap, and too many bytes do", () => {
  const fields = new Fields();
  const wrong = fields as unknown as Record<string, (...args: unknown[]) => unknown>;
  assertThrows(() => wrong["append"]!("a", "text"), TypeError);
  assertThrows(() => wrong["set"]!("a", 7), TypeError);
  assertThrows(() => (Fields as unknown as { fromList(x: unknown): void }).fromList("x"), TypeError);
  assertEquals(thrown(() => wrong["append"]!(7, utf8("a"))), { tag: "invalid-syntax" });
  fields.append("a", new Uint8Array(200_000).fill(65));
  assertThrows(() => fields.append("b", new Uint8Array(200_000).fill(65)), Error, "more than 262144");
});

Deno.test("fields: whatever is accepted can be written in one line of a head", () => {
  const entry = fc.tuple(fc.string(), fc.uint8Array({ maxLength: 20 }));
  fc.assert(fc.property(fc.array(entry, { maxLength: 5 }), (entries) => {
    const fields = new Fields();
    for (const [name, value] of entries) {
      try {
        fields.append(name, value);
      } catch { /* refused: nothing is there */ }
    }
    for (const [name, value] of entriesOf(fields)) {
      const line = `${name}: ${String.fromCharCode(...value)}`;
      if (/[\r\n\0]/.test(line) || !/^[^\s:]+: /.test(line)) return false;
    }
    return true;
  }));
});
