import { assert, assertEquals, assertThrows } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { openRecord, readAt } from "./open_record.ts";

async function inFolder(run: (folder: string) => void | Promise<void>): Promise<void> {
  const folder = Deno.makeTempDirSync({ prefix: "boll-record-" });
  try {
    await run(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

function codeOf(path: string): string {
  return assertThrows(() => openRecord(path), CapsuleError).code;
}

function makePipe(path: string): void {
  assert(new Deno.Command("mkfifo", { args: [path] }).outputSync().success);
}

Deno.test("openRecord: a regular file is read from anywhere to its end; what is none, is nothing or leads elsewhere is refused", () =>
  inFolder((folder) => {
    Deno.writeTextFileSync(`${folder}/file`, "0123456789");
    using file = openRecord(`${folder}/file`);
    assertEquals(file.size, 10);
    assertEquals(new TextDecoder().decode(readAt(file, 8, 100)), "89");
    file.seek(4);
    const bytes = new Uint8Array(4);
    assertEquals([file.read(bytes), new TextDecoder().decode(bytes)], [4, "4567"]);
    assertEquals([file.read(bytes), file.read(bytes), file.read(new Uint8Array(0))], [2, null, 0]);
    Deno.writeTextFileSync(`${folder}/file`, "ab", { append: true });
    assertEquals([file.read(bytes), file.size], [2, 12]);
    Deno.symlinkSync(`${folder}/file`, `${folder}/link`);
    Deno.symlinkSync(`${folder}/none`, `${folder}/loose`);
    makePipe(`${folder}/pipe`);
    for (const name of ["link", "loose", "pipe", ""]) assertEquals(codeOf(`${folder}/${name}`), "records.unreadable");
    assertEquals(codeOf(`${folder}/none`), "records.not_found");
    assertEquals(codeOf(`${folder}/file/below`), "records.unreadable");
  }));

Deno.test("openRecord: a pipe that takes the place of a file at any moment is refused, and nobody waits at it", () =>
  inFolder(async (folder) => {
    Deno.writeTextFileSync(`${folder}/file`, "x");
    makePipe(`${folder}/pipe`);
    Deno.linkSync(`${folder}/file`, `${folder}/record`);
    const script = `
      Deno.chdir(${JSON.stringify(folder)});
      for (;;) for (const name of ["pipe", "file"]) { Deno.linkSync(name, "next"); Deno.renameSync("next", "record"); }
    `;
    const swapping = new Deno.Command(Deno.execPath(), { args: ["eval", "--no-config", script], stderr: "null" })
      .spawn();
    try {
      let [opened, refused] = [0, 0];
      while (opened < 500 || refused < 500) {
        try {
          openRecord(`${folder}/record`)[Symbol.dispose]();
          opened++;
        } catch (error) {
          assert(error instanceof CapsuleError && error.code === "records.unreadable");
          refused++;
        }
      }
    } finally {
      swapping.kill("SIGKILL");
      await swapping.status;
    }
  }));
