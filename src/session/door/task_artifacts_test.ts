import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path";
import { ARTIFACT_BOUNDS, collectArtifacts, lookBefore } from "./task_artifacts.ts";

function withFolder(use: (out: string, root: string) => void): void {
  const root = Deno.makeTempDirSync({ prefix: "boll-artifacts-" });
  try {
    Deno.mkdirSync(join(root, "out"));
    use(join(root, "out"), root);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

const texts = ({ found }: ReturnType<typeof collectArtifacts>) =>
  found.map(({ name, bytes }) => [name, new TextDecoder().decode(bytes)]);

Deno.test("collectArtifacts: files and those in folders, in order, by their kind; no folder is none", () =>
  withFolder((out, root) => {
    Deno.mkdirSync(join(out, "a"));
    Deno.writeTextFileSync(join(out, "a", "b.JSON"), "{}");
    Deno.writeTextFileSync(join(out, "z"), "z");
    const collected = collectArtifacts(out);
    assertEquals(collected.found.map(({ name, mediaType }) => [name, mediaType]), [
      ["a/b.JSON", "application/json"],
      ["z", "application/octet-stream"],
    ]);
    assertEquals([texts(collected), collected.refused], [[["a/b.JSON", "{}"], ["z", "z"]], []]);
    assertEquals(collectArtifacts(join(root, "none")), { found: [], refused: [] });
  }));

Deno.test("collectArtifacts: a link to a file, to a folder, in place of the folder, a pipe and a socket: refused by name, none read", () =>
  withFolder((out, root) => {
    Deno.writeTextFileSync(join(root, "secret"), "s3cret");
    Deno.writeTextFileSync(join(out, "good"), "good");
    Deno.symlinkSync("../secret", join(out, "file"));
    Deno.symlinkSync(root, join(out, "folder"));
    Deno.symlinkSync("nowhere", join(out, "hanging"));
    new Deno.Command("mkfifo", { args: [join(out, "pipe")] }).outputSync();
    const collected = collectArtifacts(out);
    assertEquals(texts(collected), [["good", "good"]]);
    assertEquals(collected.refused.map(({ name, reason }) => [name, reason]), [
      ["file", "it is a link"],
      ["folder", "it is a link"],
      ["hanging", "it is a link"],
      ["pipe", "it is no regular file"],
    ]);
    Deno.symlinkSync(out, join(root, "linked"));
    const linked = collectArtifacts(join(root, "linked"));
    assertEquals([linked.found, linked.refused.length], [[], 1]);
  }));

Deno.test("collectArtifacts: exactly at each bound and one beyond", () =>
  withFolder((out) => {
    for (let i = 0; i <= ARTIFACT_BOUNDS.files; i++) Deno.writeTextFileSync(join(out, `f${1000 + i}`), "x");
    const many = collectArtifacts(out);
    assertEquals([many.found.length, many.refused.map(({ name }) => name)], [
      ARTIFACT_BOUNDS.files,
      [`f${1000 + ARTIFACT_BOUNDS.files}`],
    ]);
    for (const { name } of [...Deno.readDirSync(out)]) Deno.removeSync(join(out, name));
    Deno.writeFileSync(join(out, "a"), new Uint8Array(ARTIFACT_BOUNDS.bytes));
    assertEquals(collectArtifacts(out).refused, []);
    Deno.writeFileSync(join(out, "b"), new Uint8Array(1));
    const large = collectArtifacts(out);
    assertEquals([large.found.map(({ name }) => name), large.refused.map(({ name }) => name)], [["a"], ["b"]]);
    let deep = out;
    for (let i = 0; i <= ARTIFACT_BOUNDS.depth; i++) Deno.mkdirSync(deep = join(deep, "d"));
    assert(collectArtifacts(out).refused.some(({ reason }) => reason.startsWith("deeper")));
  }));

Deno.test("collectArtifacts: of a million names no more are looked at than the bound", () =>
  withFolder((out) => {
    for (let i = 0; i < ARTIFACT_BOUNDS.entries + 10; i++) Deno.mkdirSync(join(out, `d${i}`));
    const { found, refused } = collectArtifacts(out);
    assertEquals([found, refused.map(({ reason }) => reason)], [[], ["too many entries, this and what follows"]]);
  }));

Deno.test("lookBefore: in a shared folder only what is new or changed is a task's own", () =>
  withFolder((out) => {
    Deno.writeTextFileSync(join(out, "old"), "old");
    Deno.writeTextFileSync(join(out, "changed"), "before");
    const before = lookBefore(out);
    Deno.writeTextFileSync(join(out, "changed"), "afterwards");
    Deno.writeTextFileSync(join(out, "new"), "new");
    assertEquals(texts(collectArtifacts(out, before)), [["changed", "afterwards"], ["new", "new"]]);
  }));
