import { assertEquals } from "@std/assert";
import { closest, editDistance } from "./mod.ts";

Deno.test("closest: a typo finds its word, another word finds none", () => {
  const flags = ["mount", "memory", "deadline", "accept"];
  assertEquals(closest("mout", flags), "mount");
  assertEquals(closest("deadlien", flags), "deadline");
  assertEquals(closest("MOUNT", flags), "mount");
  assertEquals(closest("colour", flags), undefined);
  assertEquals(closest("x", flags), undefined);
  assertEquals(closest("m".repeat(1_000_000), flags), undefined);
});

Deno.test("editDistance: equal, edited, swapped, empty", () => {
  assertEquals(editDistance("abc", "abc"), 0);
  assertEquals(editDistance("abc", "axc"), 1);
  assertEquals(editDistance("abcd", "abdc"), 1);
  assertEquals(editDistance("", "abc"), 3);
});
