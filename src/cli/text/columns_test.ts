import { assertEquals } from "@std/assert";
import { alignColumns, textWidth } from "./columns.ts";

Deno.test("textWidth: letters, wide scripts, pictures and marks, as a terminal counts them", () => {
  const widths = { "abc": 3, "é": 1, "e\u0301": 1, "漢字": 4, "한국": 4, "🧪": 2, "ﬁ": 1, "": 0 };
  for (const [text, width] of Object.entries(widths)) assertEquals([text, textWidth(text)], [text, width]);
});

Deno.test("alignColumns: the last column of a row is left as it is", () => {
  assertEquals(alignColumns([["A", "B", "C"], ["漢字", "b", "long"], ["é", "bbb", ""]]), [
    ["A   ", "B  ", "C"],
    ["漢字", "b  ", "long"],
    ["é   ", "bbb", ""],
  ]);
  assertEquals(alignColumns([]), []);
});
