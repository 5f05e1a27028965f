import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path";
import { Bed, fixture } from "../harness.ts";
import { sessionEnd } from "../process/limited_run.ts";
import {
  assertNothingAfterGc,
  assertWholeRecords,
  halfMade,
  namesIn,
  sessionsOf,
  wholeTrace,
} from "./whole_records.ts";
import { diskTest, type Room, SmallDisk } from "./small_disk.ts";

/** A capsule that must be accepted and built, and has a work folder: its run writes everything there is to write. */
async function writtenCapsule(bed: Bed): Promise<string> {
  const grants = { fs: { work: "rw" } };
  const manifest = { name: "written", version: "0.1.0", component: "guest.wasm", grants };
  const folder = bed.folder("written", { "capsule.jsonc": JSON.stringify(manifest) });
  Deno.copyFileSync(await fixture("hello_stdio"), join(folder, "guest.wasm"));
  return folder;
}

/** Runs on a home with ever more room until it succeeds: each write there is has failed once by then. */
async function runUntilItFits(rooms: Iterable<Partial<Room>>): Promise<void> {
  await using bed = new Bed("binary");
  using disk = new SmallDisk(join(bed.root, "disk"));
  const home = join(disk.path, "home");
  const options = { env: { BOLL_HOME: home } };
  const args = ["run", "--accept", await writtenCapsule(bed)];
  const reasons = new Set<string>();
  for (const room of rooms) {
    disk.leave(room);
    const result = await bed.run(args, options);
    if (result.code === 0) {
      assertEquals(result.stdout, "hello from wasm\n");
      break;
    }
    const words = JSON.stringify(room) + result.stderr;
    assertEquals([result.code, result.stdout], [1, ""], words);
    assertMatch(result.lastLine, /^boll: .*No space left on device.*free space there/, words);
    reasons.add(result.lastLine.replace(/.*'(.*)'.*/, "$1").replace(/^.*\//, "").replaceAll(/[0-9a-f]{8,}/g, "…"));
    assertEquals(halfMade(home), [], words);
    assertWholeRecords(home);
    // A session that was made knows how it ended, however full the disk was.
    for (const id of sessionsOf(home)) {
      const end = wholeTrace(join(home, "sessions", id)).at(-1);
      assertEquals([end?.event, end?.["ended_by"]], ["session_end", "crashed"], words);
      assertMatch(String(end?.["detail"]), /No space left/);
    }
    assertEquals(namesIn(join(home, "cache")), [], words);
  }
  assert(reasons.size > 2, `The disk was full at ${[...reasons].join(", ")} alone`);
  disk.leave({});
  const listed = await bed.run(["sessions", "--json", "--status", "completed"], options);
  assertEquals(JSON.parse(listed.stdout)["capsule"], "written");
  assertEquals((await bed.run(args.slice(0, 1).concat(args.slice(2)), options)).code, 0, "its consent was kept");
  await assertNothingAfterGc(bed);
}

diskTest(
  "full disk: no room for one entry more, at each that a first run makes, is told and leaves nothing half",
  () => runUntilItFits(Array.from({ length: 60 }, (_, entries) => ({ entries }))),
);

diskTest(
  "full disk: no room for one block more, at each file that a first run writes, is told and leaves nothing half",
  () => runUntilItFits([0, 1, 2, 3, 4, 6, 8, 20, 42, 60, 80, 100].map((blocks) => ({ blocks }))),
);

diskTest("full disk: a run whose records find no room ends as its guest did, and the record says so", async () => {
  await using bed = new Bed("binary");
  using disk = new SmallDisk(join(bed.root, "disk"));
  const env = { BOLL_HOME: join(disk.path, "home") };
  const probe = await fixture("probe");
  assertEquals((await bed.run(["run", "--dry-run", probe], { env })).code, 0);
  for (const code of [0, 3]) {
    const source = `print("up"); readStdin(); exit(${code})`;
    const running = bed.start(["run", probe, "--", source], { env, stdin: { open: true } });
    await running.stdout.waitFor("up\n");
    disk.leave({ entries: 0, blocks: 0 });
    await running.closeStdin();
    const result = await running.result();
    disk.leave({});
    assertEquals(result.code, code, result.stderr);
    const listed = JSON.parse((await bed.run(["sessions", "--json", "--limit", "1"], { env })).stdout);
    assertEquals([listed.exit_code, listed.ended_by, listed.capsule], [code, "guest", "probe"]);
  }
});

diskTest("full disk: no room in the runtime folder is told, and leaves nothing there", async () => {
  await using bed = new Bed("binary");
  using disk = new SmallDisk(join(bed.root, "disk"));
  const env = { XDG_RUNTIME_DIR: disk.path };
  const hello = await fixture("hello_stdio");
  for (const isBuilt of [false, true]) {
    for (let entries = 1;; entries++) {
      disk.leave({ entries });
      const result = await bed.run(["run", hello], { env });
      assertEquals(namesIn(join(disk.path, "boll")), [], result.stderr);
      if (result.code === 0) break;
      assertMatch(result.lastLine, /^boll: .*No space left on device.*free space/);
      assertEquals([result.code, sessionEnd(bed).ended_by], [1, "crashed"]);
      assert(entries < 8);
    }
    disk.leave({ blocks: 0 });
    const full = await bed.run(["run", hello], { env });
    assertMatch(full.lastLine, /^boll: .*No space left on device.*free space/, String(isBuilt));
    assertEquals(namesIn(join(disk.path, "boll")), []);
    disk.leave({});
  }
});
