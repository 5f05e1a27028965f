import { assertEquals } from "@std/assert";
import { boundedHead, boundedTail } from "./bounded_text.ts";

const bytes = (text: string) => new TextEncoder().encode(text).length;

Deno.test("boundedHead: whole at the bound; one beyond it is cut between two characters and marked", () => {
  assertEquals(boundedHead("a".repeat(20), 20), "a".repeat(20));
  assertEquals(boundedHead("a".repeat(21), 20), `${"a".repeat(14)} […]`);
  for (const character of ["é", "漢", "😀"]) {
    for (let shift = 0; shift < 4; shift++) {
      const cut = boundedHead("x".repeat(shift) + character.repeat(40), 20);
      assertEquals([cut.endsWith(" […]"), bytes(cut) <= 20, cut.isWellFormed(), cut.includes("\ufffd")], [
        ...[true, true, true, false],
      ]);
    }
  }
});

Deno.test("boundedTail: the last bytes, never a part of a character", () => {
  assertEquals([boundedTail("abc", 3), boundedTail("abcd", 3)], ["abc", "bcd"]);
  assertEquals([boundedTail("é漢😀", 4), boundedTail("é漢😀", 6), boundedTail("é漢😀", 7)], ["😀", "😀", "漢😀"]);
  assertEquals(boundedTail("😀", 3), "");
});
