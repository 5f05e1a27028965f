import { assert, assertEquals, assertInstanceOf, assertThrows } from "@std/assert";
import { Descriptor } from "./descriptor.ts";
import { openFixture, readText, thrown, WIDE_LIMITS, writeText } from "../host_fixture.ts";

const READ = { read: true };
const BOTH = { read: true, write: true };
const NOW = { tag: "now" } as const;
const KEEP = { tag: "no-change" } as const;
const HUGE = 2n ** 64n - 1n;
const bytes = (text: string) => new TextEncoder().encode(text);
const text = (list: Uint8Array) => new TextDecoder().decode(list);
const at = (seconds: bigint, nanoseconds = 0) => ({ tag: "timestamp", val: { seconds, nanoseconds } }) as const;

Deno.test("open-at: every open flag does what POSIX says", () => {
  using fixture = openFixture();
  const { rw, root } = fixture;
  assertEquals(thrown(() => rw.openAt({}, "f", {}, READ)), "no-entry");
  rw.openAt({}, "f", { create: true, exclusive: true }, BOTH).write(bytes("text"), 0n);
  assertEquals(thrown(() => rw.openAt({}, "f", { create: true, exclusive: true }, BOTH)), "exist");
  assertEquals(text(rw.openAt({}, "f", { create: true }, BOTH).read(9n, 0n)[0]), "text");
  assertEquals(rw.openAt({}, "f", { truncate: true }, {}).stat().size, 0n);
  assertEquals(thrown(() => rw.openAt({}, "f", { directory: true }, READ)), "not-directory");
  rw.createDirectoryAt("a");
  assertEquals(rw.openAt({}, "a", { directory: true }, READ).getType(), "directory");
  assertEquals(thrown(() => rw.openAt({}, "a", {}, BOTH)), "is-directory");
  assertEquals(thrown(() => rw.openAt({}, "a", { create: true }, READ)), "is-directory");
  assertEquals(thrown(() => rw.openAt({}, "b", { create: true, directory: true }, READ)), "invalid");
  Deno.symlinkSync("made", `${root}/dangling`);
  assertEquals(thrown(() => rw.openAt({}, "dangling", { create: true }, BOTH)), "loop");
  assertEquals(
    thrown(() => rw.openAt({ symlinkFollow: true }, "dangling", { create: true, exclusive: true }, BOTH)),
    "exist",
  );
  rw.openAt({ symlinkFollow: true }, "dangling", { create: true }, BOTH);
  assertEquals(rw.statAt({}, "made").type, "regular-file");
});

Deno.test("open-at: a descriptor has the rights it was opened with", () => {
  using fixture = openFixture();
  const { rw } = fixture;
  writeText(rw, "f", "text");
  const reader = rw.openAt({}, "f", {}, READ);
  const writer = rw.openAt({}, "f", {}, { write: true });
  const neither = rw.openAt({}, "f", {}, {});
  assertEquals(text(reader.read(9n, 0n)[0]), "text");
  assertEquals(writer.write(bytes("T"), 0n), 1n);
  for (const descriptor of [reader, neither]) {
    assertEquals(thrown(() => descriptor.write(bytes("x"), 0n)), "bad-descriptor");
    assertEquals(thrown(() => descriptor.writeViaStream(0n)), "bad-descriptor");
    assertEquals(thrown(() => descriptor.setSize(0n)), "bad-descriptor");
  }
  for (const descriptor of [writer, neither]) {
    assertEquals(thrown(() => descriptor.read(1n, 0n)), "bad-descriptor");
    assertEquals(thrown(() => descriptor.readViaStream(0n)), "bad-descriptor");
  }
  assertEquals(reader.getFlags(), {
    read: true,
    write: false,
    fileIntegritySync: false,
    dataIntegritySync: false,
    requestedWriteSync: false,
    mutateDirectory: false,
  });
});

Deno.test("open-at: the sync flags are kept and writes work", () => {
  using fixture = openFixture();
  for (const flag of ["fileIntegritySync", "dataIntegritySync", "requestedWriteSync"] as const) {
    const file = fixture.rw.openAt({}, flag, { create: true }, { ...BOTH, [flag]: true });
    assertEquals(file.write(bytes(flag), 0n), BigInt(flag.length));
    assertEquals(file.getFlags()[flag], true);
    assertEquals(readText(fixture.rw, flag), flag);
  }
});

Deno.test("read: bytes, the end, and lengths and offsets no file has", () => {
  using fixture = openFixture();
  writeText(fixture.rw, "f", "0123456789");
  const file = fixture.rw.openAt({}, "f", {}, READ);
  assertEquals(text(file.read(4n, 3n)[0]), "3456");
  assertEquals(text(file.read(HUGE, 8n)[0]), "89");
  assertEquals(file.read(1n, 10n), [new Uint8Array(0), true]);
  assertEquals(file.read(0n, 0n)[0].length, 0);
  for (const offset of [11n, 2n ** 53n, 2n ** 63n, HUGE]) assertEquals(file.read(HUGE, offset)[1], true);
});

Deno.test("write: at an offset, past the end, and nowhere beyond the largest file", () => {
  using fixture = openFixture({ limits: { ...WIDE_LIMITS, fileBytes: 16 } });
  const { rw } = fixture;
  const file = rw.openAt({}, "f", { create: true }, BOTH);
  assertEquals(file.write(bytes("abc"), 0n), 3n);
  assertEquals(file.write(bytes("z"), 5n), 1n);
  assertEquals(readText(rw, "f"), "abc\0\0z");
  assertEquals(file.write(bytes("0123456789"), 12n), 4n);
  assertEquals(file.write(new Uint8Array(0), HUGE), 0n);
  for (const offset of [16n, 2n ** 53n, HUGE]) {
    assertEquals(thrown(() => file.write(bytes("x"), offset)), "file-too-large");
  }
});

Deno.test("set-size: shorter, longer, and not beyond the largest file", () => {
  using fixture = openFixture({ limits: { ...WIDE_LIMITS, fileBytes: 1000 } });
  const file = fixture.rw.openAt({}, "f", { create: true }, BOTH);
  file.write(bytes("text"), 0n);
  file.setSize(2n);
  assertEquals(readText(fixture.rw, "f"), "te");
  file.setSize(1000n);
  assertEquals(file.stat().size, 1000n);
  for (const size of [1001n, 2n ** 53n, HUGE]) assertEquals(thrown(() => file.setSize(size)), "file-too-large");
});

Deno.test("stat and stat-at: type, links, size, times; a link only when it is not followed", () => {
  using fixture = openFixture();
  const { rw } = fixture;
  writeText(rw, "f", "text");
  rw.symlinkAt("f", "link");
  const stat = rw.statAt({}, "f");
  assertEquals([stat.type, stat.linkCount, stat.size], ["regular-file", 1n, 4n]);
  assert(stat.dataModificationTimestamp!.seconds > 1_600_000_000n && stat.statusChangeTimestamp !== undefined);
  assertEquals(rw.statAt({}, "link").type, "symbolic-link");
  assertEquals(rw.statAt({ symlinkFollow: true }, "link").type, "regular-file");
  assertEquals(rw.stat().type, "directory");
  assertEquals(thrown(() => rw.statAt({}, "missing")), "no-entry");
});

Deno.test("set-times: no-change, now, timestamp on files and folders", () => {
  using fixture = openFixture();
  const { rw, root } = fixture;
  writeText(rw, "f", "x");
  rw.createDirectoryAt("a");
  const file = rw.openAt({}, "f", {}, READ);
  const folder = rw.openAt({}, "a", {}, READ);
  for (const [descriptor, path] of [[file, "f"], [folder, "a"]] as const) {
    descriptor.setTimes(at(1000n), at(2000n, 5_000_000));
    descriptor.setTimes(KEEP, KEEP);
    assertEquals(rw.statAt({}, path).dataAccessTimestamp, { seconds: 1000n, nanoseconds: 0 });
    descriptor.setTimes(KEEP, at(3000n));
    assertEquals(rw.statAt({}, path).dataAccessTimestamp, { seconds: 1000n, nanoseconds: 0 });
    assertEquals(rw.statAt({}, path).dataModificationTimestamp, { seconds: 3000n, nanoseconds: 0 });
    rw.setTimesAt({}, path, NOW, KEEP);
    assert(rw.statAt({}, path).dataAccessTimestamp!.seconds > 1_600_000_000n);
  }
  assertEquals(Deno.statSync(`${root}/f`).mtime?.getTime(), 3_000_000);
});

Deno.test("set-times: times that no clock shows are errors, never a trap", () => {
  using fixture = openFixture();
  const { rw } = fixture;
  writeText(rw, "f", "x");
  const file = rw.openAt({}, "f", {}, READ);
  file.setTimes(at(0n), at(253_402_300_799n));
  assertEquals(thrown(() => file.setTimes(at(0n, 1_000_000_000), NOW)), "invalid");
  assertEquals(thrown(() => file.setTimes(at(0n, 4_294_967_295), NOW)), "invalid");
  for (const seconds of [8_640_000_000_001n, 2n ** 63n, HUGE]) {
    assertEquals(thrown(() => file.setTimes(at(seconds), NOW)), "overflow");
    assertEquals(thrown(() => rw.setTimesAt({}, "f", NOW, at(seconds))), "overflow");
  }
});

Deno.test("set-times-at: of a link's target when followed, of the link itself not supported", () => {
  using fixture = openFixture();
  const { rw } = fixture;
  writeText(rw, "f", "x");
  rw.symlinkAt("f", "link");
  rw.setTimesAt({ symlinkFollow: true }, "link", at(1n), at(2n));
  assertEquals(rw.statAt({}, "f").dataModificationTimestamp, { seconds: 2n, nanoseconds: 0 });
  assertEquals(thrown(() => rw.setTimesAt({}, "link", at(1n), at(2n))), "unsupported");
});

Deno.test("is-same-object and metadata-hash: by what is on the disk", () => {
  using fixture = openFixture();
  const { rw, ro, other } = fixture;
  writeText(rw, "f", "x");
  writeText(rw, "g", "x");
  rw.linkAt({}, "f", rw, "hard");
  const open = (path: string) => rw.openAt({}, path, {}, READ);
  assert(open("f").isSameObject(open("hard")) && rw.isSameObject(ro));
  assert(!open("f").isSameObject(open("g")) && !rw.isSameObject(other));
  assertEquals(open("f").metadataHash(), rw.metadataHashAt({}, "hard"));
  assert(open("f").metadataHash().lower !== open("g").metadataHash().lower);
  assertEquals(thrown(() => rw.metadataHashAt({}, "missing")), "no-entry");
});

Deno.test("read-directory: every name once, with its type, without dots", () => {
  using fixture = openFixture();
  const { rw, root } = fixture;
  writeText(rw, "f", "x");
  rw.createDirectoryAt("a");
  rw.symlinkAt("f", "link");
  assert(new Deno.Command("mkfifo", { args: [`${root}/fifo`] }).outputSync().success);
  const stream = rw.readDirectory();
  const found = new Map<string, string>();
  for (let entry = stream.readDirectoryEntry(); entry !== undefined; entry = stream.readDirectoryEntry()) {
    assert(!found.has(entry.name));
    found.set(entry.name, entry.type);
  }
  assertEquals([...found].sort(), [["a", "directory"], ["f", "regular-file"], ["fifo", "fifo"], [
    "link",
    "symbolic-link",
  ]]);
  assertEquals(stream.readDirectoryEntry(), undefined);
  assertEquals(rw.openAt({}, "a", {}, READ).readDirectory().readDirectoryEntry(), undefined);
});

Deno.test("sync, sync-data, advise: succeed on files and folders", () => {
  using fixture = openFixture();
  writeText(fixture.rw, "f", "x");
  const file = fixture.rw.openAt({}, "f", {}, BOTH);
  for (const descriptor of [file, fixture.rw]) {
    assertEquals([descriptor.sync(), descriptor.syncData(), descriptor.advise(HUGE, HUGE)], [
      undefined,
      undefined,
      undefined,
    ]);
  }
});

Deno.test("open_files: one more is refused, and a dropped one makes room", () => {
  using fixture = openFixture({ limits: { ...WIDE_LIMITS, openFiles: 3 } });
  const { rw } = fixture;
  rw.createDirectoryAt("a");
  const first = rw.openAt({}, "f1", { create: true }, BOTH);
  const stream = rw.openAt({}, "f2", { create: true }, BOTH);
  rw.openAt({}, "a", {}, READ);
  assertEquals(thrown(() => rw.openAt({}, "f3", { create: true }, BOTH)), "insufficient-memory");
  assertEquals(thrown(() => rw.openAt({}, "a", {}, READ)), "insufficient-memory");
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  rw.openAt({}, "f3", { create: true }, BOTH);
  const held = stream.readViaStream(0n);
  stream[Symbol.dispose]();
  assertEquals(thrown(() => rw.openAt({}, "f4", { create: true }, BOTH)), "insufficient-memory");
  held[Symbol.dispose]();
  rw.openAt({}, "f4", { create: true }, BOTH);
});

Deno.test("open_files: a refused open takes no place", () => {
  using fixture = openFixture({ limits: { ...WIDE_LIMITS, openFiles: 1 } });
  const { rw } = fixture;
  for (let count = 0; count < 5; count++) {
    assertEquals(thrown(() => rw.openAt({}, "missing", {}, READ)), "no-entry");
    assertEquals(thrown(() => rw.openAt({}, "f\0", { create: true }, BOTH)), "invalid");
    rw.setTimes(NOW, NOW);
  }
  rw.openAt({}, "f", { create: true }, BOTH);
});

Deno.test("work_bytes: what fits is written, then the quota, in all files together", () => {
  using fixture = openFixture({ limits: { ...WIDE_LIMITS, workBytes: 10 } });
  const { rw, wasi } = fixture;
  const first = rw.openAt({}, "f1", { create: true }, BOTH);
  const second = rw.openAt({}, "f2", { create: true }, BOTH);
  assertEquals(first.write(bytes("1234567"), 0n), 7n);
  assertEquals(second.write(bytes("1234567"), 0n), 3n);
  assertEquals(thrown(() => first.write(bytes("x"), 0n)), "quota");
  assertEquals(first.write(new Uint8Array(0), 0n), 0n);
  assertEquals(wasi.bytesWritten(), 10);
});

Deno.test("work_bytes: single bytes apart from each other and bare names take blocks, which end too; a run of bytes does not", () => {
  const limits = { ...WIDE_LIMITS, workBytes: 2 ** 20 };
  using apart = openFixture({ limits });
  const holes = apart.rw.openAt({}, "f", { create: true }, BOTH);
  const stand = (block: bigint) => holes.write(bytes("x"), block * 4096n);
  for (let block = 1n; block < 1024n; block++) assertEquals(stand(block), 1n);
  assertEquals(thrown(() => stand(1024n)), "quota");
  assertEquals(thrown(() => holes.setSize(1n)), "quota");
  assertEquals(thrown(() => apart.rw.openAt({}, "g", { create: true }, BOTH)), "quota");
  assertEquals(thrown(() => apart.rw.createDirectoryAt("d")), "quota");
  assertEquals(thrown(() => apart.rw.symlinkAt("f", "s")), "quota");
  assertEquals(thrown(() => apart.rw.linkAt({}, "f", apart.rw, "l")), "quota");
  assertEquals([...Deno.readDirSync(apart.root)].length, 1);
  assertEquals(holes.write(bytes("y"), 1023n * 4096n + 1n), 1n);
  using together = openFixture({ limits });
  const file = together.rw.openAt({}, "f", { create: true }, BOTH);
  for (let offset = 0n; offset < 3000n; offset++) assertEquals(file.write(bytes("x"), offset), 1n);
  const end = file.appendViaStream();
  for (let count = 0; count < 3000; count++) end.write(bytes("y"));
  assertEquals(together.wasi.bytesWritten(), 6000);
});

Deno.test("close: files that a guest left open are closed", () => {
  using fixture = openFixture();
  const file = fixture.rw.openAt({}, "f", { create: true }, BOTH);
  assertEquals(file.write(bytes("x"), 0n), 1n);
  fixture.wasi.close();
  assertEquals(thrown(() => file.write(bytes("x"), 0n)), "bad-descriptor");
});

Deno.test("descriptor: a component cannot construct one, nor use one that was never made", () => {
  using fixture = openFixture();
  const { Descriptor: Exported } = fixture.wasi.imports["wasi:filesystem/types"] as { Descriptor: typeof Descriptor };
  const construct = Exported as unknown as new (...args: unknown[]) => Descriptor;
  const folder = { preopen: { host: "/", guest: "/", mode: "rw" }, index: 0, parts: [] };
  for (const key of [undefined, "hosted", Symbol("hosted"), { description: "hosted" }]) {
    assertThrows(() => new construct(key, {}, folder, { kind: "folder", folder }, {}), TypeError);
  }
  const forged: Descriptor = Object.create(Exported.prototype);
  for (
    const call of [() => forged.stat(), () => forged.openAt({}, "f", {}, READ), () => forged.isSameObject(fixture.rw)]
  ) {
    assertInstanceOf(thrown(call), TypeError);
  }
  assertEquals(fixture.rw.isSameObject(fixture.rw), true);
});

Deno.test("descriptor: arguments of other types than WASI's are a TypeError, and nothing happens", () => {
  using fixture = openFixture();
  const rw = fixture.rw as unknown as Record<string, (...args: unknown[]) => unknown>;
  writeText(fixture.rw, "f", "text");
  const file = fixture.rw.openAt({}, "f", {}, BOTH) as unknown as Record<string, (...args: unknown[]) => unknown>;
  const path = { length: 1, startsWith: "x", includes: "x" };
  const calls: (() => unknown)[] = [
    () => rw["openAt"]!({}, path, { create: true }, BOTH),
    () => rw["openAt"]!({}, ["..", "outside", "secret"], {}, READ),
    () => rw["symlinkAt"]!(["/etc/passwd"], "link"),
    () => rw["renameAt"]!("f", { folder: "x" }, "g"),
    () => file["read"]!(1, 0n),
    () => file["read"]!(1n, "0"),
    () => file["write"]!([1, 2], 0n),
    () => file["setSize"]!(-1),
    () => file["setTimes"]!({ tag: "then" }, NOW),
  ];
  for (const call of calls) assertInstanceOf(thrown(call), TypeError, String(call));
  assertEquals([...Deno.readDirSync(fixture.root)].map((entry) => entry.name), ["f"]);
  assertEquals(readText(fixture.rw, "f"), "text");
});
