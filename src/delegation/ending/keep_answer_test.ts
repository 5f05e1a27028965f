import { assert, assertEquals } from "@std/assert";
import { diskTest, SmallDisk } from "../../../tests/storms/small_disk.ts";
import { PinnedFolder } from "../../hull/mod.ts";
import { AnswerBed } from "./answer_fixture.ts";
import { MAX_KEPT_BYTES, type OpenKeepFolder } from "./keep_answer.ts";
import { MAX_OUTPUT_BYTES } from "./read_answer.ts";

const LONG = "x".repeat(MAX_OUTPUT_BYTES) + "the tail";

/** A bed with an answer to keep. */
function longBed(): AnswerBed {
  const bed = new AnswerBed();
  bed.write("work/out/result.txt", LONG);
  return bed;
}

/** The answer is cut and marked all the same, and the line says why it is not kept. */
async function assertNotKept(bed: AnswerBed, why: string, options: Parameters<AnswerBed["read"]>[0] = {}) {
  assertEquals(
    (await bed.read(options)).text,
    `${LONG.slice(0, MAX_OUTPUT_BYTES)}\n[…]
[cut at 65536 of 65544 bytes; not kept: ${why}]`,
  );
}

Deno.test("keepAnswer: a link planted for the folder or the file is not followed, nothing is written outside", async () => {
  using bed = longBed();
  const outside = `${bed.root}/outside`;
  Deno.mkdirSync(outside);
  bed.link(outside, `${bed.runtime}/delegations`);
  await assertNotKept(bed, "a link stands at delegations");
  Deno.removeSync(`${bed.runtime}/delegations`);
  bed.link(`${outside}/file`, bed.kept);
  await assertNotKept(bed, "something else stands in its place");
  Deno.writeTextFileSync(`${outside}/file`, "theirs");
  await assertNotKept(bed, "something else stands in its place");
  assertEquals([...Deno.readDirSync(outside)].map(({ name }) => name), ["file"]);
  assertEquals(Deno.readTextFileSync(`${outside}/file`), "theirs");
  assertEquals(bed.parentFiles(), [`runtime/delegations/${bed.id}.txt`]);
  Deno.removeSync(bed.kept);
  assert((await bed.read()).text!.includes("the whole answer is delegations/"));
});

Deno.test({
  name: "keepAnswer: a link put in the folder's place after it was looked at, or was opened, leads nothing outside",
  ignore: Deno.build.os !== "linux",
  async fn() {
    for (const when of ["looked at", "opened"]) {
      using bed = longBed();
      const outside = `${bed.root}/outside`;
      for (const path of [outside, `${bed.runtime}/delegations`]) Deno.mkdirSync(path);
      const swap = () => {
        Deno.renameSync(`${bed.runtime}/delegations`, `${bed.runtime}/moved`);
        bed.link(outside, `${bed.runtime}/delegations`);
      };
      const openFolder: OpenKeepFolder = (parent, name) => {
        if (when === "looked at") swap();
        const folder = PinnedFolder.open(parent, name);
        if (when === "opened") swap();
        return folder;
      };
      if (when === "looked at") await assertNotKept(bed, "delegations is no folder", { openFolder });
      else assert((await bed.read({ openFolder })).text!.includes("the whole answer is delegations/"));
      assertEquals([when, [...Deno.readDirSync(outside)]], [when, []]);
      const moved = [...Deno.readDirSync(`${bed.runtime}/moved`)].map(({ name }) => name);
      assertEquals(moved, when === "opened" ? [`${bed.id}.txt`] : []);
    }
  },
});

Deno.test("keepAnswer: a folder that is none, a runtime directory that is gone or a link", async () => {
  using bed = longBed();
  Deno.writeTextFileSync(`${bed.runtime}/delegations`, "");
  await assertNotKept(bed, "delegations is no folder");
  await assertNotKept(bed, "the runtime directory is no folder", { runtime: `${bed.root}/gone` });
  bed.link(bed.runtime, `${bed.root}/linked`);
  await assertNotKept(bed, "the runtime directory is no folder", { runtime: `${bed.root}/linked` });
});

Deno.test("keepAnswer: an id that was not minted never names a file", async () => {
  using bed = longBed();
  const foreign = [
    "../dlg_1",
    "../../x",
    "",
    "dlg_1",
    "dlg_01890000000070008000000000000009",
    `${bed.id}/../x`,
    bed.id.toUpperCase(),
    `${bed.id}\0`,
  ];
  for (const delegationId of foreign) {
    await assertNotKept(bed, "its delegation is not one of this launcher's", { delegationId });
  }
  assertEquals(bed.parentFiles(), []);
  await bed.read();
  assertEquals(bed.parentFiles(), [`runtime/delegations/${bed.id}.txt`]);
});

Deno.test("keepAnswer: kept once; what is kept already stays as it is", async () => {
  using bed = longBed();
  await bed.read();
  const { mtime, ino } = Deno.lstatSync(bed.kept);
  const { text } = await bed.read();
  assert(text!.endsWith(`the whole answer is delegations/${bed.id}.txt in the runtime directory]`));
  assertEquals([Deno.lstatSync(bed.kept).mtime, Deno.lstatSync(bed.kept).ino], [mtime, ino]);
});

Deno.test("keepAnswer: 64 MiB are kept, in flat memory; one byte more is too large", async () => {
  using bed = new AnswerBed();
  bed.writeSparse("work/out/result.txt", MAX_KEPT_BYTES + 1);
  assert((await bed.read()).text!.endsWith("[cut at 65536 of 67108865 bytes; not kept: too large]"));
  assertEquals(bed.parentFiles(), []);
  Deno.truncateSync(`${bed.work}/out/result.txt`, MAX_KEPT_BYTES);
  const before = Deno.memoryUsage().rss;
  assert((await bed.read()).text!.includes("the whole answer is delegations/"));
  const grown = Deno.memoryUsage().rss - before;
  assertEquals(Deno.lstatSync(bed.kept).size, MAX_KEPT_BYTES);
  assert(grown < 32 * 1024 ** 2, `${grown} bytes more`);
});

diskTest("keepAnswer: a disk that is full, or can only be read, is the reason, and nothing half is left", async () => {
  using bed = longBed();
  using disk = new SmallDisk(`${bed.root}/parent/disk`);
  const runtime = `${disk.path}/runtime`;
  Deno.mkdirSync(runtime);
  const files = () => [...Deno.readDirSync(`${runtime}/delegations`)].map(({ name }) => name);
  for (const blocks of [2, 8, 16]) {
    disk.leave({ blocks });
    await assertNotKept(bed, "the disk is full", { runtime });
    assertEquals(files(), []);
  }
  disk.leave({ entries: 0 });
  await assertNotKept(bed, "the disk is full", { runtime });
  disk.leave({});
  disk.makeReadOnly();
  await assertNotKept(bed, "the folder cannot be written", { runtime });
  assertEquals(files(), []);
});

diskTest("keepAnswer: on a disk with room enough it is kept", async () => {
  using bed = longBed();
  using disk = new SmallDisk(`${bed.root}/parent/disk`);
  const runtime = `${disk.path}/runtime`;
  Deno.mkdirSync(runtime);
  disk.leave({ blocks: 24 });
  assert((await bed.read({ runtime })).text!.includes("the whole answer is"));
  assertEquals(Deno.readTextFileSync(`${runtime}/delegations/${bed.id}.txt`), LONG);
});
