import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  CapsuleError,
  errorCodeOf,
  isId,
  newId,
  printable,
  printableJson,
  printableLine,
  writeFileWhole,
} from "./mod.ts";

Deno.test("newId: prefix and 32 lower-case hex, in creation order", () => {
  const ids = Array.from({ length: 50 }, () => newId("ses"));
  for (const id of ids) assert(isId(id, "ses"), id);
  assert(!isId("ses_../../etc", "ses"));
  assert(!isId(newId("dlg"), "ses"));
  assertEquals(ids, ids.toSorted());
});

Deno.test("newId: a clock that is set back changes neither order nor uniqueness", () => {
  const clocks = [0, 0, -86_400_000, -1, -86_400_000, 0].map((offset) => () => Date.now() + offset);
  const ids = clocks.map((now) => newId("ses", now));
  assertEquals([ids, new Set(ids).size], [ids.toSorted(), ids.length]);
});

Deno.test("printable: escapes, bidi and invisible characters become visible; text stays", () => {
  assertEquals(printable("a\tb\nc é 漢"), "a\tb\nc é 漢");
  assertEquals(printable("\x1b[31mred\x9b\u202e\u200b\ud800"), "\\u{1b}[31mred\\u{9b}\\u{202e}\\u{200b}\\u{d800}");
  assertEquals(printableLine("a\nb", 2), "a\\u{a}…");
});

Deno.test("printableJson: safe for a terminal, and the same value for a reader", () => {
  const value = { text: "a\x1b[31m\x9b\u202e\u{e0041}\u2028\n", list: [1, null] };
  const json = printableJson(value);
  assertEquals(printable(json), json);
  assert(!json.includes("\n"));
  assertEquals(JSON.parse(json), value);
  assertEquals(JSON.parse(printableJson(value, 2)), value);
  assertEquals(printableJson(undefined), "null");
});

Deno.test("writeFileWhole: whole or absent, and no temporary file left", () => {
  const dir = Deno.makeTempDirSync();
  try {
    writeFileWhole(`${dir}/a`, "one");
    writeFileWhole(`${dir}/a`, "two");
    assertEquals(Deno.readTextFileSync(`${dir}/a`), "two");
    assertEquals(Deno.statSync(`${dir}/a`).mode! & 0o777, 0o600);
    Deno.mkdirSync(`${dir}/full`);
    Deno.writeTextFileSync(`${dir}/full/x`, "");
    assertThrows(() => writeFileWhole(`${dir}/full`, "never"));
    assertEquals([...Deno.readDirSync(dir)].map((e) => e.name).sort(), ["a", "full"]);
  } finally {
    Deno.removeSync(dir, { recursive: true });
  }
});

Deno.test("errorCodeOf: a CapsuleError of this or another bundle has a code, another error has none", () => {
  const foreign = Object.assign(new Error("Build: no"), { name: "CapsuleError", code: "component.invalid" });
  assertEquals(errorCodeOf(foreign), "component.invalid");
  assertEquals(errorCodeOf(new CapsuleError("internal", "No")), "internal");
  assertEquals(errorCodeOf(Object.assign(new Error("x"), { name: "CapsuleError", code: "toString" })), undefined);
  assertEquals(errorCodeOf(new TypeError("x")), undefined);
});
