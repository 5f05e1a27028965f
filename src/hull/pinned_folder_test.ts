import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { PinnedFolder } from "./mod.ts";

const BYTES = new TextEncoder().encode("kept");
const names = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name).sort();

Deno.test({
  name: "PinnedFolder: what is written stays in the folder that was opened, though a link stands at its path since",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const root = Deno.makeTempDirSync({ prefix: "boll-pinned-" });
    try {
      for (const name of ["own", "outside"]) Deno.mkdirSync(`${root}/${name}`);
      {
        using folder = PinnedFolder.open(`${root}/own`, "kept");
        Deno.renameSync(`${root}/own/kept`, `${root}/own/moved`);
        Deno.symlinkSync(`${root}/outside`, `${root}/own/kept`);
        await folder.create("new", (write) => Promise.resolve(write(BYTES)));
        folder.rename("new", "file");
        await folder.create("other", () => Promise.resolve());
        await assertRejects(() => folder.create("file", () => Promise.resolve()), Error, "(os error 17)");
        for (let i = 0; i < 2; i++) folder.remove("other");
        Deno.writeTextFileSync(`${root}/outside/file`, "not this one");
        assertEquals(folder.read("file", BYTES.length), BYTES);
        assertThrows(() => folder.read("file", BYTES.length - 1), Error, "(os error 27)");
        Deno.symlinkSync(`${root}/outside/file`, `${root}/own/moved/link`);
        assertThrows(() => folder.read("link", 100), Error, "(os error 40)");
        assertThrows(() => folder.read(".", 100), Error, "(os error 21)");
        folder.remove("link");
        Deno.removeSync(`${root}/outside/file`);
      }
      assertEquals([names(`${root}/own/moved`), names(`${root}/outside`)], [["file"], []]);
      assertEquals(Deno.readFileSync(`${root}/own/moved/file`), BYTES);
      const modes = ["moved", "moved/file"].map((path) => Deno.lstatSync(`${root}/own/${path}`).mode! & 0o777);
      assertEquals(modes, [0o700, 0o600]);
      assertThrows(() => PinnedFolder.open(`${root}/own`, "kept"), Error, "(os error 20)");
      Deno.symlinkSync(`${root}/own`, `${root}/linked`);
      assertThrows(() => PinnedFolder.open(`${root}/linked`, "moved"), Error, "(os error 20)");
      PinnedFolder.open(`${root}/own`, "moved")[Symbol.dispose]();
    } finally {
      Deno.removeSync(root, { recursive: true });
    }
  },
});
