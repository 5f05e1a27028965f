import { assert, assertEquals } from "@std/assert";
import { relative } from "@std/path";
import fc from "fast-check";
import { deeperPath, isInside, pathsOverlap, resolvePlace } from "./paths.ts";

const path = fc.array(fc.constantFrom("a", "b", "ab", "..a", "é"), { maxLength: 4 }).map((parts) =>
  `/${parts.join("/")}`
);

Deno.test("isInside: agrees with relative paths, for any two absolute ones", () => {
  fc.assert(
    fc.property(path, path, (one, other) => {
      const climbs = relative(other, one).split("/")[0] === "..";
      assertEquals(isInside(one, other), !climbs, `${one} in ${other}`);
      assertEquals(pathsOverlap(one, other), isInside(one, other) || isInside(other, one));
      const deeper = deeperPath(one, other);
      if (deeper === undefined) assert(!pathsOverlap(one, other));
      else assert(isInside(deeper, one) && isInside(deeper, other));
    }),
    { numRuns: 1000 },
  );
});

Deno.test("isInside: by whole segments, and everything is inside the root", () => {
  assert(isInside("/a/b", "/a") && isInside("/a", "/") && isInside("/", "/"));
  assert(!isInside("/ab", "/a") && !isInside("/", "/a"));
});

Deno.test("resolvePlace: links on the way are followed, what is missing is kept", () => {
  const dir = Deno.realPathSync(Deno.makeTempDirSync());
  try {
    Deno.mkdirSync(`${dir}/real/deep`, { recursive: true });
    Deno.symlinkSync("real", `${dir}/link`);
    Deno.symlinkSync("nowhere", `${dir}/dangling`);
    assertEquals(resolvePlace(`${dir}/link/deep`), `${dir}/real/deep`);
    assertEquals(resolvePlace(`${dir}/link/none/x`), `${dir}/real/none/x`);
    assertEquals(resolvePlace(`${dir}/dangling/x`), `${dir}/dangling/x`);
  } finally {
    Deno.removeSync(dir, { recursive: true });
  }
});
