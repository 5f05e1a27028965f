import { assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { wrapLine } from "./wrap.ts";

Deno.test("wrapLine: exactly at the width stays, one beyond breaks, the margin and the hanging indent are kept", () => {
  assertEquals(wrapLine("  holds a b", { width: 11, indent: "    " }), ["  holds a b"]);
  assertEquals(wrapLine("  holds a b", { width: 10, indent: "    " }), ["  holds a", "    b"]);
  assertEquals(wrapLine("", { width: 10, indent: "  " }), [""]);
  assertEquals(wrapLine("a /a/very/long/path b", { width: 6, indent: " " }), ["a", " /a/very/long/path", " b"]);
});

Deno.test("wrapLine: no word is lost or changed, and no line with a space in it is too long", () => {
  fc.assert(fc.property(fc.array(fc.string({ minLength: 1 }).filter((word) => !word.includes(" "))), (words) => {
    const lines = wrapLine(words.join(" "), { width: 20, indent: "  " });
    assertEquals(lines.flatMap((line) => line.split(" ")).filter((word) => word !== ""), words);
    for (const line of lines) if (line.trim().includes(" ")) assertEquals(line.length <= 20, true);
  }));
});
