import { assertEquals } from "@std/assert";
import { removeTrees } from "../mod.ts";

Deno.test("removeTrees: shallow, deep, read-only and missing ones go, links are not followed, names need not be UTF-8", async () => {
  const root = Deno.makeTempDirSync();
  try {
    Deno.mkdirSync(`${root}/kept`);
    Deno.writeTextFileSync(`${root}/kept/file`, "kept");
    const paths = Array.from({ length: 40 }, (_, index) => `${root}/tree-${index}`);
    for (const path of paths) Deno.mkdirSync(`${path}/a/b`, { recursive: true });
    Deno.symlinkSync(`${root}/kept`, `${paths[0]}/link`);
    Deno.mkdirSync(`${paths[1]}${"/d".repeat(300)}`, { recursive: true });
    Deno.writeTextFileSync(`${paths[2]}/a/b/file`, "");
    for (const part of ["/a/b", "/a", ""]) Deno.chmodSync(paths[2] + part, 0o500);
    const script = `mkdir '${paths[3]}/'$(printf 'x\\377y') && touch '${paths[3]}/'$(printf 'x\\377y/z')`;
    assertEquals((await new Deno.Command("sh", { args: ["-c", script] }).output()).success, true);
    const counts: number[] = [];
    assertEquals(await removeTrees([...paths, `${root}/missing`], (count) => counts.push(count)), []);
    assertEquals([...Deno.readDirSync(root)].map(({ name }) => name), ["kept"]);
    assertEquals(Deno.readTextFileSync(`${root}/kept/file`), "kept");
    assertEquals(counts, Array.from({ length: 41 }, (_, index) => index + 1));
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
