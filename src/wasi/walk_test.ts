import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { openFixture, thrown, writeText } from "./host_fixture.ts";
import type { Folder } from "./place.ts";
import { staysInside, walk } from "./walk.ts";

const NAMES = ["a", "b", "c", "l1", "l2", "l3"];
const name = fc.constantFrom(...NAMES, "..", "..", ".", "");
const path = fc.array(name, { minLength: 1, maxLength: 7 }).map((names) => names.join("/"));

/** A tree of folders and files with links of any kind among them; names that collide are left out. */
const tree = fc.array(
  fc.record({
    at: fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 2 }),
    name: fc.constantFrom(...NAMES),
    link: fc.option(fc.oneof(path, fc.constantFrom("/", "/etc", "../outside", "../outside/secret")), {
      nil: undefined,
    }),
  }),
  { maxLength: 12 },
);

function plant(root: string, entries: readonly Entry[]): void {
  for (const folder of ["a", "a/b", "a/b/c", "b"]) Deno.mkdirSync(`${root}/${folder}`);
  for (const entry of entries) {
    // Not through a link planted before: the test itself would write outside.
    if (entry.at.length > 0 && !isRealFolder(root, entry.at)) continue;
    const place = [root, ...entry.at, entry.name].join("/");
    try {
      if (entry.link === undefined) Deno.writeTextFileSync(place, "inside", { createNew: true });
      else if (entry.link !== "") Deno.symlinkSync(entry.link, place);
    } catch { /* the name is taken */ }
  }
}

interface Entry {
  readonly at: string[];
  readonly name: string;
  readonly link: string | undefined;
}

function rootFolder(root: string): Folder {
  return { preopen: { guest: "/", host: root, mode: "rw" }, index: 0, parts: [], info: Deno.lstatSync(root) };
}

Deno.test("walk: in any tree with any links, a path is refused with a code or what it leads to lies inside", () => {
  fc.assert(
    fc.property(tree, fc.array(path, { minLength: 5, maxLength: 5 }), fc.constantFrom("follow", "keep"), (
      entries,
      paths,
      last,
    ) => {
      using fixture = openFixture();
      const { root } = fixture;
      plant(root, entries);
      for (const asked of paths) {
        let place;
        try {
          place = walk(rootFolder(root), asked, last);
        } catch (error) {
          assert(["no-entry", "not-permitted", "not-directory", "loop"].includes(String(error)), String(error));
          continue;
        }
        const above = place.info?.isDirectory ? place.host : place.host.slice(0, place.host.lastIndexOf("/"));
        assertEquals(Deno.realPathSync(above), above);
        assert(above === root || above.startsWith(`${root}/`) || place.host === root, above);
        if (last === "follow") assertEquals(place.info?.isSymlink ?? false, false);
      }
    }),
    { numRuns: 150 },
  );
});

Deno.test("walk: what the system itself resolves inside, the walk resolves to the same file", () => {
  fc.assert(
    fc.property(tree, path.filter((asked) => /[^/]/.test(asked) && !asked.startsWith("/")), (entries, asked) => {
      using fixture = openFixture();
      const { root } = fixture;
      plant(root, entries);
      let place;
      try {
        place = walk(rootFolder(root), asked, "follow");
      } catch (error) {
        if (error === "not-permitted") return; // stricter than the system by design
        assertEquals(typeof thrown(() => Deno.statSync(`${root}/${asked}`)), "object");
        return;
      }
      if (place.info !== undefined) assertEquals(Deno.realPathSync(`${root}/${asked}`), place.host);
      else assertEquals(typeof thrown(() => Deno.statSync(`${root}/${asked}`)), "object");
    }),
    { numRuns: 150 },
  );
});

Deno.test("staysInside: a link that may be made never resolves to a place outside", () => {
  fc.assert(
    fc.property(tree, fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 3 }), path, (entries, at, target) => {
      using fixture = openFixture();
      const { root } = fixture;
      plant(root, entries);
      const parts = [...at, "new"];
      const isReal = at.length === 0 || isRealFolder(root, at);
      if (target === "" || !isReal || !staysInside(rootFolder(root), parts, target)) return;
      const link = [root, ...parts].join("/");
      Deno.symlinkSync(target, link);
      let real;
      try {
        real = Deno.realPathSync(link);
      } catch {
        return; // leads nowhere
      }
      assert(real === root || real.startsWith(`${root}/`), `${target} -> ${real}`);
    }),
    { numRuns: 200 },
  );
});

Deno.test("walk: guests that create, rename and link at random never touch a file outside", () => {
  const act = fc.record({
    kind: fc.constantFrom("symlink", "rename", "mkdir", "write", "link", "unlink"),
    one: path,
    two: path,
  });
  fc.assert(
    fc.property(tree, fc.array(act, { maxLength: 30 }), (entries, acts) => {
      using fixture = openFixture();
      const { root, outside, rw } = fixture;
      plant(root, [
        { at: [], name: "l1", link: "../outside" },
        { at: ["a"], name: "l2", link: "../../outside" },
        ...entries,
      ]);
      for (const { kind, one, two } of acts) {
        try {
          if (kind === "symlink") rw.symlinkAt(one, two);
          else if (kind === "rename") rw.renameAt(one, rw, two);
          else if (kind === "mkdir") rw.createDirectoryAt(one);
          else if (kind === "link") rw.linkAt({ symlinkFollow: true }, one, rw, two);
          else if (kind === "unlink") rw.unlinkFileAt(one);
          else writeText(rw, one, "guest");
        } catch (error) {
          assertEquals(typeof error, "string", String(error));
        }
      }
      assertEquals([...Deno.readDirSync(outside)].map((entry) => entry.name), ["secret"]);
      assertEquals(Deno.readTextFileSync(`${outside}/secret`), "secret");
      assertEquals(Deno.statSync(`${outside}/secret`).nlink, 1);
    }),
    { numRuns: 100 },
  );
});

function isRealFolder(root: string, parts: readonly string[]): boolean {
  const path = [root, ...parts].join("/");
  try {
    return Deno.lstatSync(path).isDirectory && Deno.realPathSync(path) === path;
  } catch {
    return false;
  }
}
