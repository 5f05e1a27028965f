import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { globOverlaps, matchesBelow, matchesGlob } from "./glob.ts";

Deno.test("matchesGlob: segments, stars and question marks; nothing else is special", () => {
  const table: readonly (readonly [glob: string, path: string, matches: boolean])[] = [
    ["capsules/*", "capsules/a", true],
    ["capsules/*", "capsules/a/b", false],
    ["capsules/*", "capsules", false],
    ["./capsules/*/", "capsules/a", true],
    [".", "", true],
    ["*", "", false],
    ["**", "", true],
    ["**/x", "x", true],
    ["**/x", "a/b/x", true],
    ["a/**/b", "a/b", true],
    ["a/**/b", "a/c/d/b", true],
    ["a/**/b", "a/c/d", false],
    ["a?c", "abc", true],
    ["a?c", "ac", false],
    ["a.c", "abc", false],
    ["a+", "aa", false],
    ["w-*-x", "w-1-2-x", true],
  ];
  for (const [glob, path, matches] of table) assertEquals(matchesGlob(glob, path), matches, `${glob} ${path}`);
});

Deno.test("matchesGlob: a segment of many stars is matched in one pass, however long the name", () => {
  const name = "a".repeat(4_000);
  assert(matchesGlob("*a".repeat(1_000), name));
  assert(!matchesGlob("*a".repeat(1_000) + "b", name));
  assert(matchesGlob("*a?*b*", "\u{1f600}a\u{1f600}b"));
});

Deno.test("globOverlaps: true for every path that is, contains or lies in a match", () => {
  const part = fc.constantFrom("a", "b", "ab");
  const glob = fc.array(fc.constantFrom("a", "b", "*", "a*", "?", "**"), { minLength: 1, maxLength: 4 });
  const path = fc.array(part, { maxLength: 5 });
  fc.assert(
    fc.property(glob, path, path, (segments, parts, more) => {
      const text = segments.join("/");
      if (!matchesGlob(text, parts.join("/"))) return;
      for (let length = 0; length <= parts.length; length++) {
        assert(globOverlaps(text, parts.slice(0, length).join("/")), "contains");
      }
      assert(globOverlaps(text, [...parts, ...more].join("/")), "lies in");
    }),
    { numRuns: 500 },
  );
  assert(!globOverlaps("capsules/*", "docs"));
  assert(!globOverlaps("capsules/x", "capsules/y/z"));
});

Deno.test("matchesBelow: true exactly where a folder further down could be named", () => {
  const part = fc.constantFrom("a", "b", "ab");
  const glob = fc.array(fc.constantFrom("a", "b", "*", "a*", "?", "**"), { minLength: 1, maxLength: 4 });
  const path = (maxLength: number) => fc.array(part, { maxLength });
  fc.assert(
    fc.property(glob, path(3), path(3), (segments, above, below) => {
      const isBelow = below.length > 0 && matchesGlob(segments.join("/"), [...above, ...below].join("/"));
      if (isBelow) assert(matchesBelow(segments.join("/"), above.join("/")));
    }),
    { numRuns: 3_000 },
  );
  for (const [one, other] of [["capsules/*", ""], ["capsules/*", "capsules"], ["**/x", "a/b"], ["a/*/c", "a/b"]]) {
    assert(matchesBelow(one!, other!), `${one} ${other}`);
  }
  for (
    const [one, other] of [["capsules/*", "capsules/a"], ["capsules/*", "docs"], [".", ""], ["a/b", "a/b"], [
      "a/b",
      "b",
    ]]
  ) {
    assert(!matchesBelow(one!, other!), `${one} ${other}`);
  }
});
