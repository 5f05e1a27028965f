import { assert, assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { digestBytes, digestFile, digestFolder } from "./digest.ts";

function inFolder(body: (dir: string) => void): void {
  const dir = Deno.realPathSync(Deno.makeTempDirSync());
  try {
    body(dir);
  } finally {
    Deno.removeSync(dir, { recursive: true });
  }
}

const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

Deno.test("digestFolder: SHA-256 over `path NUL hex LF`, by path bytes; .git and .boll do not count", () => {
  inFolder((dir) => {
    assertEquals(digestFolder(dir), `sha256:${EMPTY}`);
    // By bytes: "Z" < "a" < "a/b" < U+FFFD < U+1F600; by UTF-16 units the last two would be swapped.
    for (const folder of ["a.d", ".git", "a.d/.boll", "a"]) Deno.mkdirSync(`${dir}/${folder}`);
    for (const name of ["\u{1f600}", "\ufffd", "a/b", "Z", "a.d/x"]) Deno.writeTextFileSync(`${dir}/${name}`, "abc");
    for (const name of [".git/config", "a.d/.boll/x"]) Deno.writeTextFileSync(`${dir}/${name}`, "changes");
    const lines = ["Z", "a.d/x", "a/b", "\ufffd", "\u{1f600}"].map((name) => `${name}\0${ABC}\n`).join("");
    const expected = digestBytes(new TextEncoder().encode(lines));
    const files: string[][] = [];
    assertEquals(digestFolder(dir, (path, digest) => files.push([path, digest])), expected);
    assertEquals(files, ["Z", "a.d/x", "a/b", "\ufffd", "\u{1f600}"].map((path) => [path, `sha256:${ABC}`]));
    Deno.writeTextFileSync(`${dir}/.git/config`, "changed");
    assertEquals(digestFolder(dir), expected);
    Deno.writeTextFileSync(`${dir}/a/b`, "abd");
    assertNotEquals(digestFolder(dir), expected);
  });
});

Deno.test("digestFolder: a link and a special file are refused, wherever they point", () => {
  inFolder((dir) => {
    Deno.writeTextFileSync(`${dir}/file`, "abc");
    Deno.mkdirSync(`${dir}/sub`);
    Deno.symlinkSync("../file", `${dir}/sub/link`);
    const link = assertThrows(() => digestFolder(dir), CapsuleError);
    assertEquals(link.code, "capsule.bad_file");
    assert(link.message.includes("sub/link: found a link"), link.message);
    Deno.removeSync(`${dir}/sub/link`);
    digestFolder(dir);
    new Deno.Command("mkfifo", { args: [`${dir}/sub/pipe`] }).outputSync();
    const pipe = assertThrows(() => digestFolder(dir), CapsuleError);
    assert(pipe.message.includes("sub/pipe: found a special file"), pipe.message);
  });
});

Deno.test("digestFile: streams a file of many chunks; a link and a FIFO are refused without waiting", () => {
  inFolder((dir) => {
    const bytes = new Uint8Array(1_000_003).map((_, index) => index * 7);
    Deno.writeFileSync(`${dir}/big`, bytes);
    assertEquals(digestFile(`${dir}/big`), digestBytes(bytes));
    Deno.symlinkSync("big", `${dir}/link`);
    assertEquals(assertThrows(() => digestFile(`${dir}/link`), CapsuleError).code, "capsule.bad_file");
    new Deno.Command("mkfifo", { args: [`${dir}/pipe`] }).outputSync();
    assertEquals(assertThrows(() => digestFile(`${dir}/pipe`), CapsuleError).code, "capsule.bad_file");
    assertEquals(assertThrows(() => digestFile(`${dir}/none`), CapsuleError).code, "capsule.bad_file");
  });
});
