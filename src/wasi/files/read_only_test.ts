import { assert, assertEquals } from "@std/assert";
import type { Descriptor } from "./descriptor.ts";
import { openFixture, thrown, writeText } from "../host_fixture.ts";

const READ = { read: true };

Deno.test("files: read-only mounts stay so through every function", () => {
  using fixture = openFixture();
  const { rw, ro, denials } = fixture;
  rw.createDirectoryAt("a");
  writeText(rw, "f", "text");
  const file = ro.openAt({}, "f", {}, READ);
  const now = { tag: "now" } as const;
  const writing: [string, (folder: Descriptor) => unknown][] = [
    ["create-directory-at", (folder) => folder.createDirectoryAt("new")],
    ["remove-directory-at", (folder) => folder.removeDirectoryAt("new")],
    ["symlink-at", (folder) => folder.symlinkAt("f", "link")],
    ["link-at", (folder) => folder.linkAt({}, "f", folder, "hard")],
    ["rename-at", (folder) => folder.renameAt("hard", folder, "other")],
    ["unlink-file-at", (folder) => folder.unlinkFileAt("other")],
    ["set-times-at", (folder) => folder.setTimesAt({}, "f", now, now)],
    ["set-times", (folder) => folder.setTimes(now, now)],
    ["set-times of a file", (folder) => folder.openAt({}, "f", {}, READ).setTimes(now, now)],
  ];
  for (const [name, call] of writing) {
    assertEquals(thrown(() => call(ro)), "read-only", name);
    call(rw);
  }
  const onFile: ((file: Descriptor) => unknown)[] = [
    (open) => open.write(new Uint8Array(1), 0n),
    (open) => open.writeViaStream(0n),
    (open) => open.appendViaStream(),
    (open) => open.setSize(0n),
  ];
  const writable = rw.openAt({}, "f", {}, { read: true, write: true });
  for (const call of onFile) {
    assertEquals(thrown(() => call(file)), "read-only");
    call(writable);
  }
  assertEquals(thrown(() => rw.renameAt("f", ro, "g")), "read-only");
  assertEquals(thrown(() => ro.renameAt("f", rw, "g")), "read-only");
  assert(denials.some((denial) => denial.asked.startsWith("write /ro/") && denial.allow.endsWith(":/ro:rw")));
});

Deno.test("files: read-only mounts stay so through every combination of flags", () => {
  using fixture = openFixture();
  const { rw, ro, root } = fixture;
  writeText(rw, "f", "text");
  const bits = (count: number) => Array.from({ length: 2 ** count }, (_, value) => value);
  for (const how of bits(4)) {
    for (const flag of bits(6)) {
      const on = (bit: number, value: number) => (value & (1 << bit)) !== 0;
      const open = { create: on(0, how), directory: on(1, how), exclusive: on(2, how), truncate: on(3, how) };
      const flags = {
        read: on(0, flag),
        write: on(1, flag),
        fileIntegritySync: on(2, flag),
        dataIntegritySync: on(3, flag),
        requestedWriteSync: on(4, flag),
        mutateDirectory: on(5, flag),
      };
      for (const path of ["f", "new", "."]) {
        let opened: Descriptor | undefined;
        try {
          opened = ro.openAt({ symlinkFollow: true }, path, open, flags);
        } catch (error) {
          assertEquals(typeof error, "string");
          if (open.create || open.truncate || flags.write) assertEquals(error, "read-only");
          continue;
        }
        assert(!open.create && !open.truncate && !flags.write);
        assertEquals(opened.getFlags().mutateDirectory, false);
        assertEquals(thrown(() => opened.setTimes({ tag: "now" }, { tag: "now" })), "read-only");
        opened[Symbol.dispose]();
      }
    }
  }
  assertEquals([...Deno.readDirSync(root)].map((entry) => entry.name), ["f"]);
  assertEquals(Deno.readTextFileSync(`${root}/f`), "text");
});

Deno.test("files: mutate-directory is accepted and means nothing more than the mount allows", () => {
  using fixture = openFixture();
  const { rw, ro } = fixture;
  rw.createDirectoryAt("a");
  const flags = { read: true, mutateDirectory: true };
  const writable = rw.openAt({}, "a", { directory: true }, flags);
  const readable = ro.openAt({}, "a", { directory: true }, flags);
  assertEquals(writable.getFlags().mutateDirectory, true);
  assertEquals(readable.getFlags().mutateDirectory, false);
  writable.createDirectoryAt("b");
  assertEquals(thrown(() => readable.createDirectoryAt("c")), "read-only");
});
