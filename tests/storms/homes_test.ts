import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path";
import { Bed, forMode } from "../harness.ts";
import { warmGuest } from "../warm_cache.ts";
import { runInShell } from "./shell.ts";
import { diskTest, SmallDisk } from "./small_disk.ts";

diskTest(
  "homes: on a disk that became read-only, runs and removals are refused with a reason, reading goes on",
  async () => {
    await using bed = new Bed("binary");
    using disk = new SmallDisk(join(bed.root, "disk"));
    const options = { env: { BOLL_HOME: join(disk.path, "home") } };
    const hello = await warmGuest(bed, "hello_stdio");
    assertEquals((await bed.run(["run", hello], options)).code, 0);
    disk.makeReadOnly();
    for (const args of [["run", hello], ["rm", "last"]]) {
      const { code, lastLine } = await bed.run(args, options);
      assertEquals(code, 1);
      assertMatch(lastLine, /^boll: .*Read-only file system/);
      assert(!lastLine.includes("mistake in boll"), lastLine);
    }
    for (const args of [["sessions"], ["trace", "show"], ["logs"], ["gc"], ["run", "--dry-run", hello]]) {
      assertEquals((await bed.run(args, options)).code, 0, args.join(" "));
    }
  },
);

forMode("binary", "homes: none, one that is no absolute path, one below a file, one of someone else", async (bed) => {
  const file = join(bed.folder("odd", { file: "" }), "file");
  const foreign = bed.folder("foreign");
  for (
    const [line, reason] of [
      ["env -u BOLL_HOME -u HOME", "names an absolute path"],
      ["env BOLL_HOME= HOME=relative", "names an absolute path"],
      [`env BOLL_HOME= HOME=${file}`, "Not a directory"],
      ["env BOLL_HOME= HOME=/proc/nonexistent", "No such file"],
    ] as const
  ) {
    const { code, stderr } = await runInShell(bed, `${line} $boll sessions`);
    assertEquals(code, 1, stderr);
    assert(stderr.startsWith("boll: ") && stderr.includes(reason) && stderr.includes("set BOLL_HOME"), stderr);
  }
  if (Deno.uid() !== 0) return;
  Deno.chownSync(foreign, 65534, 65534);
  Deno.chmodSync(foreign, 0o700);
  const { code, stderr } = await bed.run(["sessions"], { env: { BOLL_HOME: foreign } });
  assertEquals(code, 1);
  assertMatch(stderr, /owned by someone else/);
});
