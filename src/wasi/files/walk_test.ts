import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { fileErrorOf } from "./file_error.ts";
import { openFixture, thrown, writeText } from "../host_fixture.ts";
import type { Folder } from "./place.ts";
import { type Place, staysInside, walk, walkByNames, type WalkRequest } from "./walk.ts";
import { walkPlain } from "./walk_plain.ts";

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
          place = walk(rootFolder(root), { path: asked, last });
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
        place = walk(rootFolder(root), { path: asked, last: "follow" });
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

/** Everything that a walk says, or the code it throws. */
function answerOf(act: () => Place): unknown {
  try {
    const { parts, host, info, saysFolder, lastName } = act();
    return { parts, host, info: info && [info.ino, info.isDirectory, info.isSymlink], saysFolder, lastName };
  } catch (error) {
    return error instanceof Error ? fileErrorOf(error) : error;
  }
}

const plainPath = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 5 }).map((names) => names.join("/"));

Deno.test("walk: the short way says what the walk name by name says, in any tree with any links", () => {
  const last = fc.constantFrom<WalkRequest["last"]>("follow", "keep", "refuse");
  const from = fc.constantFrom([], ["a"], ["a", "b"]);
  let shortWays = 0;
  fc.assert(
    fc.property(tree, from, fc.array(fc.oneof(plainPath, path), { minLength: 8, maxLength: 8 }), last, (
      entries,
      parts,
      paths,
      last,
    ) => {
      using fixture = openFixture();
      const { root } = fixture;
      plant(root, entries);
      const folder = { ...rootFolder(root), parts, info: Deno.lstatSync([root, ...parts].join("/")) };
      for (const path of paths) {
        const escapes: string[] = [];
        const request = { path, last, onEscape: (asked: string) => void escapes.push(asked) };
        const exact = answerOf(() => walkByNames(folder, request));
        const short = walkPlain(folder, request);
        if (short !== undefined) shortWays++;
        if (short !== undefined) assertEquals(answerOf(() => short), exact, path);
        assertEquals(answerOf(() => walk(folder, request)), exact, path);
        assertEquals(escapes.length % 2, 0, path);
      }
    }),
    { numRuns: 150 },
  );
  assert(shortWays > 50, `${shortWays} short ways`);
});

Deno.test("walk: what is to be made is told apart from what is there, but for links that lead nowhere", () => {
  fc.assert(
    fc.property(tree, fc.array(plainPath, { minLength: 8, maxLength: 8 }), (entries, paths) => {
      using fixture = openFixture();
      const { root } = fixture;
      plant(root, entries);
      for (const path of paths) {
        const found = answerOf(() => walk(rootFolder(root), { path, last: "keep", isNew: true }));
        const exact = answerOf(() => walkByNames(rootFolder(root), { path, last: "keep" }));
        if (leadsNowhere(`${root}/${path}`) && typeof exact === "object") continue;
        assertEquals(found, exact, path);
      }
    }),
    { numRuns: 150 },
  );
});

function leadsNowhere(host: string): boolean {
  try {
    Deno.statSync(host);
    return false;
  } catch {
    return lstatIsLink(host);
  }
}

function lstatIsLink(host: string): boolean {
  try {
    return Deno.lstatSync(host).isSymlink;
  } catch {
    return false;
  }
}

Deno.test("openAt, createDirectoryAt, renameAt, linkAt: a link that leads nowhere holds its name", () => {
  using fixture = openFixture();
  const { rw, root } = fixture;
  Deno.mkdirSync(`${root}/a/b`, { recursive: true });
  for (const link of ["link", "a/b/link"]) {
    Deno.symlinkSync("missing", `${root}/${link}`);
    const create = (how: object, follow = false) => () =>
      rw.openAt({ symlinkFollow: follow }, link, { create: true, ...how }, { write: true });
    assertEquals(thrown(create({ exclusive: true })), "exist");
    assertEquals(thrown(create({})), "loop");
    assertEquals(thrown(() => rw.createDirectoryAt(link)), "exist");
    rw.createDirectoryAt(`${link}_free`);
    writeText(rw, "f", "x");
    assertEquals(thrown(() => rw.linkAt({}, "f", rw, link)), "exist");
    create({}, true)()[Symbol.dispose]();
    assertEquals(Deno.statSync(`${root}/${link}`).isFile, true);
    Deno.removeSync(Deno.realPathSync(`${root}/${link}`));
    rw.renameAt("f", rw, link);
    assertEquals(Deno.lstatSync(`${root}/${link}`).isFile, true);
  }
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

Deno.test("linkAt, renameAt: a link that leads in a circle may have another name, one that climbs with each turn may not", () => {
  using fixture = openFixture();
  const { rw, root } = fixture;
  Deno.mkdirSync(`${root}/a`);
  const links = { self: "self", one: "a/two", "a/two": "../one", down: "down/x", up: "up/..", out: "../out" };
  for (const [name, target] of Object.entries(links)) Deno.symlinkSync(target, `${root}/${name}`);
  for (const name of ["self", "one"] as const) {
    rw.linkAt({}, name, rw, "hard");
    assertEquals(rw.readlinkAt("hard"), links[name]);
    assertEquals(thrown(() => rw.openAt({ symlinkFollow: true }, "hard", {}, { read: true })), "loop");
    rw.unlinkFileAt("hard");
  }
  for (const name of ["a/two", "down", "up", "out"]) {
    assertEquals(thrown(() => rw.linkAt({}, name, rw, "hard")), "not-permitted", name);
  }
  rw.renameAt("self", rw, "a/moved");
  assertEquals(rw.readlinkAt("a/moved"), "self");
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

Deno.test("walk: whatever guests make, link and move at random, no link of theirs leads a program of the host outside", () => {
  const deep = fc.constantFrom(
    "a",
    "a/b",
    "a/b/c",
    "a/b/c/d",
    "e",
    "e/b",
    "a/b/c/d/x",
    "a/b/c/x",
    "a/b/c/y",
    "a/x",
    "x",
  );
  const target = fc.record({
    first: fc.constantFrom("", "", "x/", "y/"),
    climbs: fc.integer({ min: 0, max: 5 }),
    last: fc.constantFrom(".", "outside", "a", "x"),
  }).map(({ first, climbs, last }) => `${first}${"../".repeat(climbs)}${last}`);
  const act = fc.oneof(
    fc.record({ kind: fc.constant("symlink"), one: target, two: deep }),
    fc.record({ kind: fc.constantFrom("rename", "rename", "mkdir", "link", "unlink"), one: deep, two: deep }),
  );
  fc.assert(
    fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
      using fixture = openFixture();
      const { root, rw } = fixture;
      Deno.mkdirSync(`${root}/a/b/c/d`, { recursive: true });
      for (const { kind, one, two } of acts) {
        try {
          if (kind === "symlink") rw.symlinkAt(one, two);
          else if (kind === "rename") rw.renameAt(one, rw, two);
          else if (kind === "mkdir") rw.createDirectoryAt(one);
          else if (kind === "link") rw.linkAt({}, one, rw, two);
          else rw.unlinkFileAt(one);
        } catch (error) {
          assertEquals(typeof error, "string", String(error));
        }
      }
      for (const link of linksBelow(root)) assert(!leadsOutside(root, link), `${link} -> ${Deno.readLinkSync(link)}`);
    }),
    { numRuns: 150 },
  );
});

function linksBelow(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isSymlink, isDirectory }) => {
    const path = `${folder}/${name}`;
    return isSymlink ? [path] : isDirectory ? linksBelow(path) : [];
  });
}

function leadsOutside(root: string, link: string): boolean {
  try {
    const real = Deno.realPathSync(link);
    return real !== root && !real.startsWith(`${root}/`);
  } catch {
    return false; // it leads nowhere
  }
}

function isRealFolder(root: string, parts: readonly string[]): boolean {
  const path = [root, ...parts].join("/");
  try {
    return Deno.lstatSync(path).isDirectory && Deno.realPathSync(path) === path;
  } catch {
    return false;
  }
}
