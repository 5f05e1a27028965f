// The host's own rules for files, a test each. Every refuse has its allow.
import { assert, assertEquals } from "@std/assert";
import { openFixture, readText, thrown, writeText } from "../host_fixture.ts";

const READ = { read: true };

Deno.test("files: `..` may not leave the preopen at any step, and may go up inside", () => {
  using fixture = openFixture();
  const { rw, root, denials } = fixture;
  Deno.mkdirSync(`${root}/a/b`, { recursive: true });
  Deno.writeTextFileSync(`${root}/f`, "inside");
  assertEquals(readText(rw, "a/b/../../f"), "inside");
  assertEquals(readText(rw, "a/../a/./b//../../f"), "inside");
  for (
    const path of ["..", "../", "../outside/secret", "a/../../outside/secret", "a/b/../../../root/f", "./../root/f"]
  ) {
    assertEquals(thrown(() => rw.openAt({}, path, {}, READ)), "not-permitted", path);
    assertEquals(thrown(() => rw.statAt({}, path)), "not-permitted", path);
  }
  assert(denials.some((denial) => denial.grant === "fs" && denial.asked.includes("../outside/secret")));
});

Deno.test("files: `..` may not leave the folder of a descriptor below the preopen", () => {
  using fixture = openFixture();
  const { rw, root } = fixture;
  Deno.mkdirSync(`${root}/a/b`, { recursive: true });
  Deno.writeTextFileSync(`${root}/a/f`, "inside");
  const a = rw.openAt({}, "a", { directory: true }, READ);
  assertEquals(readText(a, "b/../f"), "inside");
  assertEquals(thrown(() => a.openAt({}, "../a/f", {}, READ)), "not-permitted");
});

Deno.test("files: `..` in the middle needs what is before it to exist and to be a folder", () => {
  using fixture = openFixture();
  const { rw, root } = fixture;
  Deno.mkdirSync(`${root}/a`);
  Deno.writeTextFileSync(`${root}/f`, "inside");
  assertEquals(readText(rw, "a/../f"), "inside");
  assertEquals(thrown(() => rw.statAt({}, "missing/../f")), "no-entry");
  assertEquals(thrown(() => rw.statAt({}, "f/../f")), "not-directory");
});

Deno.test("files: links may not leave the preopen at any step, planted before or not", () => {
  using fixture = openFixture();
  const { rw, root, outside } = fixture;
  Deno.mkdirSync(`${root}/a`);
  Deno.writeTextFileSync(`${root}/f`, "inside");
  Deno.symlinkSync("../f", `${root}/a/good`);
  Deno.symlinkSync("../../outside/secret", `${root}/a/out`);
  Deno.symlinkSync("../outside", `${root}/folder_out`);
  Deno.symlinkSync("a/out", `${root}/twice`);
  Deno.symlinkSync("..", `${root}/up`);
  Deno.symlinkSync(outside, `${root}/absolute`);
  assertEquals(readText(rw, "a/good"), "inside");
  for (const path of ["a/out", "folder_out/secret", "twice", "up/outside/secret", "absolute/secret", "up/root/f"]) {
    assertEquals(thrown(() => readText(rw, path)), "not-permitted", path);
    assertEquals(thrown(() => rw.statAt({ symlinkFollow: true }, path)), "not-permitted", path);
  }
  assertEquals(thrown(() => writeText(rw, "folder_out/new", "x")), "not-permitted");
  assertEquals(thrown(() => rw.createDirectoryAt("folder_out/new")), "not-permitted");
  assertEquals(thrown(() => rw.unlinkFileAt("folder_out/secret")), "not-permitted");
  assertEquals([...Deno.readDirSync(outside)].length, 1);
});

Deno.test("files: a link that leads out and in again is refused", () => {
  using fixture = openFixture();
  const { rw, root } = fixture;
  Deno.writeTextFileSync(`${root}/f`, "inside");
  Deno.symlinkSync("../root/f", `${root}/round`);
  Deno.symlinkSync("./f", `${root}/straight`);
  assertEquals(readText(rw, "straight"), "inside");
  assertEquals(thrown(() => readText(rw, "round")), "not-permitted");
});

Deno.test("files: absolute paths and NUL are errors of WASI's own kind", () => {
  using fixture = openFixture();
  const { rw, root, denials } = fixture;
  Deno.writeTextFileSync(`${root}/f`, "inside");
  assertEquals(readText(rw, "f"), "inside");
  const calls: ((path: string) => unknown)[] = [
    (path) => rw.openAt({}, path, {}, READ),
    (path) => rw.statAt({}, path),
    (path) => rw.createDirectoryAt(path),
    (path) => rw.unlinkFileAt(path),
    (path) => rw.removeDirectoryAt(path),
    (path) => rw.readlinkAt(path),
    (path) => rw.renameAt("f", rw, path),
    (path) => rw.renameAt(path, rw, "g"),
    (path) => rw.linkAt({}, "f", rw, path),
    (path) => rw.symlinkAt("f", path),
    (path) => rw.metadataHashAt({}, path),
    (path) => rw.setTimesAt({}, path, { tag: "now" }, { tag: "now" }),
  ];
  for (const call of calls) {
    assertEquals(thrown(() => call(`${root}/f`)), "not-permitted");
    assertEquals(thrown(() => call("a\0b")), "invalid");
  }
  assertEquals(denials[0], { grant: "fs", asked: `open ${root}/f`, allow: "--mount HOST:GUEST" });
});

Deno.test("files: links are created only if their target stays inside", () => {
  using fixture = openFixture();
  const { rw, root } = fixture;
  Deno.mkdirSync(`${root}/a/b`, { recursive: true });
  Deno.writeTextFileSync(`${root}/f`, "inside");
  Deno.symlinkSync("../..", `${root}/a/b/top`);
  rw.symlinkAt("../../f", "a/b/good");
  rw.symlinkAt("not/there/yet", "a/later");
  assertEquals(readText(rw, "a/b/good"), "inside");
  assertEquals(rw.readlinkAt("a/later"), "not/there/yet");
  for (const target of ["/etc/passwd", "../../../outside", "top/../outside", "x/../../../../outside/secret"]) {
    assertEquals(thrown(() => rw.symlinkAt(target, "a/b/bad")), "not-permitted", target);
  }
  assertEquals(thrown(() => rw.symlinkAt("", "a/bad")), "no-entry");
  assertEquals(thrown(() => rw.symlinkAt("a\0b", "a/bad")), "invalid");
  assertEquals([...Deno.readDirSync(`${root}/a/b`)].map((entry) => entry.name).sort(), ["good", "top"]);
});

Deno.test("files: a link keeps inside when it is renamed or linked to another folder", () => {
  using fixture = openFixture();
  const { rw, other, root } = fixture;
  Deno.mkdirSync(`${root}/a/b`, { recursive: true });
  rw.symlinkAt("../../f", "a/b/link");
  rw.symlinkAt("../f", "a/near");
  assertEquals(thrown(() => rw.renameAt("a/b/link", rw, "link")), "not-permitted");
  assertEquals(thrown(() => rw.linkAt({}, "a/b/link", other, "link")), "not-permitted");
  rw.renameAt("a/near", rw, "a/b/near");
  assertEquals(rw.readlinkAt("a/b/near"), "../f");
});

Deno.test("files: a link stays inside whatever is later put in its way or moved from above it", () => {
  using fixture = openFixture();
  const { rw, other } = fixture;
  for (const path of ["a", "a/b", "a/b/c", "p", "p/q", "p/q/r", "v"]) rw.createDirectoryAt(path);
  // Walked by its names it stays inside; `d`, once it is a link to the root, makes it climb out.
  assertEquals(thrown(() => rw.symlinkAt("d/../../../../outside/secret", "a/b/c/later")), "not-permitted");
  assertEquals(thrown(() => rw.symlinkAt("../c/../../f", "a/b/c/real")), "not-permitted");
  rw.symlinkAt("../../../f", "p/q/r/climbs");
  rw.symlinkAt("near", "v/stays");
  assertEquals(thrown(() => rw.renameAt("p/q/r", rw, "r")), "not-permitted");
  assertEquals(thrown(() => rw.renameAt("p/q", rw, "q")), "not-permitted");
  assertEquals(thrown(() => rw.renameAt("p/q/r", other, "r")), "not-permitted");
  rw.renameAt("p/q/r", rw, "a/b/r");
  rw.renameAt("a/b", rw, "a/b2");
  rw.renameAt("v", other, "v");
  assertEquals([rw.readlinkAt("a/b2/r/climbs"), other.readlinkAt("v/stays")], ["../../../f", "near"]);
});

Deno.test("files: what led out before a guest came may be moved by it, what stays inside may not become so", () => {
  using fixture = openFixture();
  const { rw, root } = fixture;
  Deno.mkdirSync(`${root}/a/b`, { recursive: true });
  Deno.symlinkSync("/usr/bin/env", `${root}/a/b/absolute`);
  Deno.symlinkSync("../../../outside", `${root}/a/b/out`);
  rw.renameAt("a/b", rw, "b");
  rw.createDirectoryAt("a/deep");
  rw.symlinkAt("../../f", "a/deep/inside");
  assertEquals(thrown(() => rw.renameAt("a/deep", rw, "deep")), "not-permitted");
});

Deno.test("files: hard links only between granted places", () => {
  using fixture = openFixture();
  const { rw, ro, other, root, outside } = fixture;
  writeText(rw, "f", "inside");
  rw.linkAt({}, "f", rw, "same");
  rw.linkAt({}, "f", other, "across");
  assertEquals(readText(other, "across"), "inside");
  assertEquals(rw.statAt({}, "f").linkCount, 3n);
  Deno.symlinkSync(`${outside}/secret`, `${root}/out`);
  assertEquals(thrown(() => rw.linkAt({ symlinkFollow: true }, "out", rw, "stolen")), "not-permitted");
  assertEquals(thrown(() => rw.linkAt({}, "../outside/secret", rw, "stolen")), "not-permitted");
  assertEquals(thrown(() => rw.linkAt({}, "f", rw, "../outside/planted")), "not-permitted");
  assertEquals(thrown(() => ro.linkAt({}, "f", rw, "from_ro")), "read-only");
  assertEquals(thrown(() => rw.linkAt({}, "f", ro, "to_ro")), "read-only");
});

Deno.test("files: devices, sockets and FIFOs cannot be opened", () => {
  using fixture = openFixture();
  const { rw, root } = fixture;
  assert(new Deno.Command("mkfifo", { args: [`${root}/fifo`] }).outputSync().success);
  const listener = Deno.listen({ transport: "unix", path: `${root}/socket` });
  try {
    Deno.writeTextFileSync(`${root}/file`, "x");
    for (const flags of [{ read: true }, { write: true }, { read: true, write: true }, {}]) {
      for (const how of [{}, { create: true }, { truncate: true }]) {
        assertEquals(thrown(() => rw.openAt({}, "fifo", how, flags)), "not-permitted");
        assertEquals(thrown(() => rw.openAt({}, "socket", how, flags)), "not-permitted");
        rw.openAt({}, "file", how, flags)[Symbol.dispose]();
      }
    }
    assertEquals(thrown(() => rw.setTimesAt({}, "fifo", { tag: "now" }, { tag: "now" })), "not-permitted");
    assertEquals(rw.statAt({}, "fifo").type, "fifo");
    assertEquals(rw.statAt({}, "socket").type, "socket");
  } finally {
    listener.close();
  }
});

Deno.test("files: a device in a granted folder cannot be opened", () => {
  const dev = "/dev";
  using fixture = openFixture({ preopens: [dev, dev, dev].map((host) => ({ guest: "/dev", host, mode: "rw" })) });
  assertEquals(fixture.rw.statAt({}, "null").type, "character-device");
  assertEquals(thrown(() => fixture.rw.openAt({}, "null", {}, READ)), "not-permitted");
  assertEquals(thrown(() => fixture.rw.openAt({}, "null", {}, { write: true })), "not-permitted");
});

Deno.test({
  name: "files: magic links like those of /proc are never followed",
  ignore: Deno.build.os !== "linux",
  fn() {
    const proc = "/proc";
    using fixture = openFixture({ preopens: [proc, proc, proc].map((host) => ({ guest: "/p", host, mode: "ro" })) });
    const self = String(Deno.pid);
    assertEquals(fixture.rw.statAt({}, `${self}/cwd`).type, "symbolic-link");
    assertEquals(fixture.rw.readlinkAt("self"), self);
    for (const path of [`${self}/cwd/x`, `${self}/root/etc/passwd`, "self/exe", "self/cwd", "self/root"]) {
      assertEquals(thrown(() => fixture.rw.openAt({ symlinkFollow: true }, path, {}, READ)), "not-permitted", path);
    }
    assertEquals(thrown(() => fixture.rw.openAt({}, "self/exe", {}, READ)), "loop");
  },
});

Deno.test("files: a trailing slash says that it is a folder", () => {
  using fixture = openFixture();
  const { rw, root } = fixture;
  Deno.mkdirSync(`${root}/a`);
  writeText(rw, "f", "x");
  Deno.symlinkSync("a", `${root}/link`);
  assertEquals(rw.statAt({}, "a/").type, "directory");
  assertEquals(rw.statAt({}, "link/").type, "directory");
  assertEquals(rw.statAt({}, "link").type, "symbolic-link");
  assertEquals(thrown(() => rw.statAt({}, "f/")), "not-directory");
  assertEquals(thrown(() => rw.openAt({}, "f/", {}, READ)), "not-directory");
  assertEquals(thrown(() => rw.openAt({}, "new/", { create: true }, { write: true })), "is-directory");
  assertEquals(thrown(() => rw.unlinkFileAt("f/")), "not-directory");
  assertEquals(thrown(() => rw.unlinkFileAt("link/")), "not-directory");
  assertEquals(thrown(() => rw.removeDirectoryAt("link/")), "not-directory");
  assertEquals(thrown(() => rw.renameAt("f", rw, "g/")), "not-directory");
  assertEquals(thrown(() => rw.linkAt({}, "f", rw, "g/")), "no-entry");
  assertEquals(thrown(() => rw.symlinkAt("f", "g/")), "no-entry");
  rw.createDirectoryAt("b//");
  rw.removeDirectoryAt("b/");
});

Deno.test("files: empty names are nothing between slashes and no path at all", () => {
  using fixture = openFixture();
  const { rw } = fixture;
  rw.createDirectoryAt("a");
  assertEquals(rw.statAt({}, "a////.").type, "directory");
  assertEquals(rw.statAt({}, ".").type, "directory");
  for (const call of [() => rw.statAt({}, ""), () => rw.openAt({}, "", {}, READ), () => rw.createDirectoryAt("")]) {
    assertEquals(thrown(call), "no-entry");
  }
});

Deno.test("files: names of 255 bytes, counted in UTF-8, and no more", () => {
  using fixture = openFixture();
  const { rw } = fixture;
  writeText(rw, "a".repeat(255), "fits");
  assertEquals(readText(rw, "a".repeat(255)), "fits");
  writeText(rw, "é".repeat(127), "fits");
  assertEquals(readText(rw, "é".repeat(127)), "fits");
  assertEquals(thrown(() => writeText(rw, "a".repeat(256), "")), "name-too-long");
  assertEquals(thrown(() => writeText(rw, "é".repeat(128), "")), "name-too-long");
  assertEquals(thrown(() => rw.statAt({}, "./".repeat(2048))), "name-too-long");
  assertEquals(rw.statAt({}, "./".repeat(2047)).type, "directory");
  assertEquals(thrown(() => rw.statAt({}, "x".repeat(10_000_000))), "name-too-long");
});

Deno.test("files: 40 links deep are followed, 41 are a loop", () => {
  using fixture = openFixture();
  const { rw, root } = fixture;
  Deno.writeTextFileSync(`${root}/0`, "end");
  for (let count = 1; count <= 41; count++) Deno.symlinkSync(String(count - 1), `${root}/${count}`);
  Deno.symlinkSync("self", `${root}/self`);
  assertEquals(readText(rw, "40"), "end");
  assertEquals(thrown(() => readText(rw, "41")), "loop");
  assertEquals(thrown(() => readText(rw, "self")), "loop");
  assertEquals(thrown(() => readText(rw, "1", false)), "loop");
});

Deno.test("files: a descriptor keeps its rights after a rename", () => {
  using fixture = openFixture();
  const { rw, other } = fixture;
  rw.createDirectoryAt("a");
  rw.createDirectoryAt("a/b");
  writeText(rw, "a/f", "old");
  const file = rw.openAt({}, "a/f", {}, { read: true, write: true });
  const reader = rw.openAt({}, "a/f", {}, READ);
  const folder = rw.openAt({}, "a", { directory: true }, READ);
  const below = rw.openAt({}, "a/b", { directory: true }, READ);
  rw.renameAt("a", other, "moved");
  file.write(new TextEncoder().encode("new"), 0n);
  assertEquals(thrown(() => reader.write(new Uint8Array(1), 0n)), "bad-descriptor");
  assertEquals(readText(folder, "f"), "new");
  writeText(below, "g", "x");
  assertEquals(readText(other, "moved/b/g"), "x");
  assertEquals(below.stat().type, "directory");
});

Deno.test("files: a folder that another process moved is no entry any more, whatever is in its place", () => {
  using fixture = openFixture();
  const { rw, root, outside } = fixture;
  rw.createDirectoryAt("a");
  rw.createDirectoryAt("kept");
  const folder = rw.openAt({}, "a", { directory: true }, READ);
  const kept = rw.openAt({}, "kept", { directory: true }, READ);
  Deno.renameSync(`${root}/a`, `${root}/b`);
  assertEquals(thrown(() => folder.stat()), "no-entry");
  Deno.symlinkSync(outside, `${root}/a`);
  assertEquals(thrown(() => readText(folder, "secret")), "no-entry");
  assertEquals(thrown(() => folder.readDirectory()), "no-entry");
  assertEquals(thrown(() => folder.setTimes({ tag: "now" }, { tag: "now" })), "no-entry");
  writeText(kept, "f", "x");
});

Deno.test("files: times have millisecond resolution", () => {
  using fixture = openFixture();
  const { rw, root } = fixture;
  writeText(rw, "f", "x");
  const time = { tag: "timestamp", val: { seconds: 1_700_000_000n, nanoseconds: 123_456_789 } } as const;
  rw.setTimesAt({}, "f", time, time);
  const { dataAccessTimestamp, dataModificationTimestamp } = rw.statAt({}, "f");
  assertEquals(dataAccessTimestamp, { seconds: 1_700_000_000n, nanoseconds: 123_000_000 });
  assertEquals(dataModificationTimestamp, dataAccessTimestamp);
  assertEquals(Deno.statSync(`${root}/f`).mtime?.getTime(), 1_700_000_000_123);
});

Deno.test("files: errors are WASI error codes, never a trap", () => {
  using fixture = openFixture();
  const { rw, other } = fixture;
  rw.createDirectoryAt("full");
  rw.createDirectoryAt("empty");
  writeText(rw, "full/f", "x");
  const file = rw.openAt({}, "full/f", {}, { read: true });
  const refusals: [() => unknown, string][] = [
    [() => rw.removeDirectoryAt("full"), "not-empty"],
    [() => rw.renameAt("empty", rw, "full"), "not-empty"],
    [() => rw.renameAt("full", rw, "full/below"), "invalid"],
    [() => rw.renameAt("full/f", rw, "empty"), "is-directory"],
    [() => rw.renameAt("empty", rw, "full/f"), "not-directory"],
    [() => rw.renameAt(".", rw, "x"), "busy"],
    [() => rw.renameAt("missing", rw, "x"), "no-entry"],
    [() => rw.createDirectoryAt("full"), "exist"],
    [() => rw.createDirectoryAt("."), "exist"],
    [() => rw.createDirectoryAt("missing/x"), "no-entry"],
    [() => rw.createDirectoryAt("full/f/x"), "not-directory"],
    [() => rw.removeDirectoryAt("full/f"), "not-directory"],
    [() => rw.removeDirectoryAt("."), "invalid"],
    [() => rw.removeDirectoryAt("full/.."), "not-empty"],
    [() => rw.removeDirectoryAt("missing"), "no-entry"],
    [() => rw.unlinkFileAt("full"), "is-directory"],
    [() => rw.unlinkFileAt("missing"), "no-entry"],
    [() => rw.linkAt({}, "full", rw, "hard"), "not-permitted"],
    [() => rw.linkAt({}, "missing", rw, "hard"), "no-entry"],
    [() => rw.linkAt({}, "full/f", rw, "empty"), "exist"],
    [() => rw.symlinkAt("full", "empty"), "exist"],
    [() => rw.readlinkAt("full"), "invalid"],
    [() => rw.readlinkAt("missing"), "no-entry"],
    [() => file.openAt({}, "x", {}, READ), "not-directory"],
    [() => file.readDirectory(), "not-directory"],
    [() => rw.renameAt("full/f", file, "x"), "not-directory"],
    [() => rw.read(1n, 0n), "is-directory"],
    [() => rw.readViaStream(0n), "is-directory"],
    [() => other.statAt({}, "full"), "no-entry"],
  ];
  for (const [call, code] of refusals) assertEquals(thrown(call), code, String(call));
  rw.renameAt("full/f", rw, "f");
  rw.removeDirectoryAt("full");
});
