import { assertEquals, assertNotEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { join } from "@std/path";
import fc from "fast-check";
import { CapsuleError } from "../base/mod.ts";
import { adoptBuild, cacheKey, dropCached, findCached } from "./cache.ts";
import { cacheSample, commandText, inFolder, SAMPLE_DIGEST } from "./component_fixture.ts";
import { type BuildResult, filesOf } from "./description.ts";
import { makeGlueCode } from "./glue_code.ts";
import { hashBytes } from "./hash.ts";
import { loadCached } from "./load.ts";

const KEY = "ab".repeat(32);
const ID = { key: KEY, digest: SAMPLE_DIGEST };
const EMPTY_MODULE = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

/** Writes a small build into `folder` and tells of it as a build cell would. */
function stage(folder: string, glue = "return 1;"): BuildResult {
  const file = (name: string, bytes: Uint8Array) => {
    Deno.writeFileSync(`${folder}/${name}`, bytes);
    return { name, sha256: hashBytes(bytes), bytes: bytes.length };
  };
  return {
    digest: SAMPLE_DIGEST,
    description: {
      kind: "component",
      imports: ["wasi:cli/stdout@0.2.0"],
      exports: ["wasi:cli/run@0.2.0"],
      wit: "world",
      memories: [{ module: "c.core.wasm", page_bytes: 65536, min_pages: 1, max_pages: 2 }],
    },
    glue: file("glue.js", new TextEncoder().encode(glue)),
    code: file("glue.code", makeGlueCode(glue)),
    modules: [file("c.core.wasm", EMPTY_MODULE)],
  };
}

/** A cache root and a staging folder with a small build. */
function inPlaces(use: (root: string, staging: string, result: BuildResult) => void): Promise<void> {
  return inFolder((folder) => {
    Deno.mkdirSync(`${folder}/staging`);
    use(`${folder}/cache`, `${folder}/staging`, stage(`${folder}/staging`));
  });
}

const entries = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name).sort();

Deno.test("cacheKey: follows digest and options, and is 64 hex digits", () => {
  const key = cacheKey(SAMPLE_DIGEST, { memoryMb: 64 });
  assertEquals(/^[0-9a-f]{64}$/.test(key), true);
  assertEquals(cacheKey(SAMPLE_DIGEST, { memoryMb: 64 }), key);
  assertNotEquals(cacheKey(SAMPLE_DIGEST, { memoryMb: 65 }), key);
  assertNotEquals(cacheKey(SAMPLE_DIGEST.replace("5a", "5b"), { memoryMb: 64 }), key);
});

Deno.test("adoptBuild: what was announced appears whole under its key, and nothing else of the staging folder", async () => {
  await inPlaces((root, staging, result) => {
    Deno.writeTextFileSync(`${staging}/extra`, "not announced");
    const cached = adoptBuild(root, ID, staging, { ...result, more: 1 });
    assertEquals(cached, { key: KEY, dir: `${root}/${KEY}`, ...result });
    assertEquals(findCached(root, KEY), cached);
    assertEquals(entries(root), [KEY]);
    assertEquals(entries(cached.dir), ["c.core.wasm", "glue.code", "glue.js", "meta.json"]);
    assertEquals(Deno.statSync(cached.dir).mode! & 0o777, 0o700);
    dropCached(cached);
    assertEquals(findCached(root, KEY), undefined);
  });
});

Deno.test("adoptBuild: a hostile result is refused and leaves nothing behind", async () => {
  const file = { name: "x.wasm", sha256: "00".repeat(32), bytes: 1 };
  const changes: [string, (result: BuildResult) => unknown][] = [
    ["nothing", () => undefined],
    ["a list", () => []],
    ["no digest", ({ digest: _, ...rest }) => rest],
    ["a digest that is none", (r) => ({ ...r, digest: r.digest.toUpperCase() })],
    ["another component, swapped in behind the digest", (r) => ({ ...r, digest: r.digest.replace("5a", "5b") })],
    ["no glue", ({ glue: _, ...rest }) => rest],
    ["no code", ({ code: _, ...rest }) => rest],
    ["code that is the glue", (r) => ({ ...r, code: r.glue })],
    ["other code", (r) => ({ ...r, code: { ...r.code, sha256: "00".repeat(32) } })],
    ["a name with a path", (r) => ({ ...r, glue: { ...r.glue, name: "../glue.js" } })],
    ["an absolute name", (r) => ({ ...r, glue: { ...r.glue, name: "/etc/passwd" } })],
    ["a hidden name", (r) => ({ ...r, glue: { ...r.glue, name: ".glue" } })],
    ["no name", (r) => ({ ...r, glue: { ...r.glue, name: "" } })],
    ["the record's name", (r) => ({ ...r, glue: { ...r.glue, name: "meta.json" } })],
    ["a name twice", (r) => ({ ...r, modules: [...r.modules, ...r.modules] })],
    ["a name on a prototype", (r) => ({ ...r, modules: [{ ...r.modules[0], name: "__proto__" }] })],
    ["another hash", (r) => ({ ...r, glue: { ...r.glue, sha256: "00".repeat(32) } })],
    ["a hash that is none", (r) => ({ ...r, glue: { ...r.glue, sha256: r.glue.sha256.toUpperCase() + "g" } })],
    ["another size", (r) => ({ ...r, glue: { ...r.glue, bytes: r.glue.bytes + 1 } })],
    ["a size that is none", (r) => ({ ...r, glue: { ...r.glue, bytes: -1 } })],
    ["a file that is not there", (r) => ({ ...r, modules: [...r.modules, file] })],
    ["too many files", (r) => ({ ...r, modules: Array(1001).fill(file) })],
    ["an import that is no name", (r) => ({ ...r, description: { ...r.description, imports: ["a\nb"] } })],
    ["an import that is no text", (r) => ({ ...r, description: { ...r.description, imports: [{}] } })],
    ["too many exports", (r) => ({ ...r, description: { ...r.description, exports: Array(1001).fill("a") } })],
    ["another kind", (r) => ({ ...r, description: { ...r.description, kind: "core" } })],
    ["a long text", (r) => ({ ...r, description: { ...r.description, wit: "x".repeat(65537) } })],
    ["memory of no module", (r) => ({
      ...r,
      description: { ...r.description, memories: [{ ...r.description.memories[0], module: "y.wasm" }] },
    })],
  ];
  for (const [what, change] of changes) {
    await inPlaces((root, staging, result) => {
      const error = assertThrows(() => adoptBuild(root, ID, staging, change(result)), CapsuleError);
      assertEquals(error.code, "component.build_failed", what);
      assertEquals(findCached(root, KEY), undefined, what);
      try {
        assertEquals(entries(root), [], what);
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      }
      assertEquals(adoptBuild(root, ID, staging, result).key, KEY);
    });
  }
});

Deno.test("adoptBuild: no random JSON is taken for a build", async () => {
  await inPlaces((root, staging) => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        (value) => void assertThrows(() => adoptBuild(root, ID, staging, value), CapsuleError),
      ),
    );
  });
});

Deno.test("adoptBuild: a link, a folder or another program's file in place of a file is refused", async () => {
  await inPlaces((root, staging, result) => {
    const path = `${staging}/glue.js`;
    Deno.renameSync(path, `${staging}/elsewhere`);
    Deno.symlinkSync(`${staging}/elsewhere`, path);
    assertThrows(() => adoptBuild(root, ID, staging, result), CapsuleError, "not the plain file");
    Deno.removeSync(path);
    Deno.mkdirSync(path);
    assertThrows(() => adoptBuild(root, ID, staging, result), CapsuleError, "not the plain file");
    Deno.removeSync(path);
    Deno.renameSync(`${staging}/elsewhere`, path);
    assertEquals(adoptBuild(root, ID, staging, result).key, KEY);
  });
});

Deno.test("adoptBuild: the first build under a key stays, a later one is given the first; junk there is replaced", async () => {
  await inPlaces((root, staging, result) => {
    const first = adoptBuild(root, ID, staging, result);
    const other = `${staging}/other`;
    Deno.mkdirSync(other);
    assertEquals(adoptBuild(root, ID, other, stage(other, "return 2;")).glue, first.glue);
    Deno.writeTextFileSync(`${first.dir}/meta.json`, "{");
    assertEquals(adoptBuild(root, ID, other, stage(other, "return 2;")).glue.sha256, hashBytes("return 2;"));
    dropCached(first);
    Deno.writeTextFileSync(first.dir, "a file");
    assertEquals(adoptBuild(root, ID, staging, result), first);
    assertEquals(entries(root), [KEY]);
  });
});

Deno.test("adoptBuild: two processes at once end with one whole build, and both have it", async () => {
  await inFolder(async (folder) => {
    const program = `
      import { adoptBuild, loadCached } from ${JSON.stringify(new URL("./mod.ts", import.meta.url).href)};
      const result = JSON.parse(Deno.readTextFileSync(${JSON.stringify(`${folder}/result.json`)}));
      for (let turn = 0; turn < 40; turn++) {
        const id = { key: turn.toString(16).padStart(64, "0"), digest: ${JSON.stringify(SAMPLE_DIGEST)} };
        loadCached(adoptBuild(${JSON.stringify(`${folder}/cache`)}, id, ${JSON.stringify(folder)}, result));
      }`;
    Deno.writeTextFileSync(`${folder}/result.json`, JSON.stringify(stage(folder)));
    const config = join(import.meta.dirname!, "../../deno.json");
    const args = ["run", "-A", "--no-check", "--cached-only", "--config", config, `${folder}/program.ts`];
    Deno.writeTextFileSync(`${folder}/program.ts`, program);
    const runs = await Promise.all([1, 2].map(() => new Deno.Command(Deno.execPath(), { args }).output()));
    for (const { code, stderr } of runs) assertEquals([code, new TextDecoder().decode(stderr)], [0, ""]);
    assertEquals(entries(`${folder}/cache`).length, 40);
  });
});

Deno.test("findCached: junk in a cache folder is no build, and no error", async () => {
  await inPlaces((root, staging, result) => {
    const { dir } = adoptBuild(root, ID, staging, result);
    const meta = Deno.readTextFileSync(`${dir}/meta.json`);
    const write = (text: string) => Deno.writeTextFileSync(`${dir}/meta.json`, text);
    const other = meta.replace(KEY, "cd".repeat(32));
    for (const text of ["", "{", "null", "[]", "{}", '"x"', meta.slice(0, -1), other, meta.replace("jco", "xco")]) {
      write(text);
      assertEquals(findCached(root, KEY), undefined, text);
    }
    write(meta);
    assertEquals(findCached(root, KEY)?.dir, dir);
    for (const name of ["glue.js", "c.core.wasm"]) {
      const bytes = Deno.readFileSync(`${dir}/${name}`);
      Deno.writeFileSync(`${dir}/${name}`, bytes.subarray(1));
      assertEquals(findCached(root, KEY), undefined, name);
      Deno.removeSync(`${dir}/${name}`);
      assertEquals(findCached(root, KEY), undefined, name);
      Deno.writeFileSync(`${dir}/${name}`, bytes);
    }
    assertEquals(findCached(root, KEY)?.dir, dir);
    assertThrows(() => findCached(root, "../../etc"), TypeError);
  });
});

Deno.test("loadCached: one changed byte in any file is a mismatch, the whole build loads", async () => {
  await inFolder(async (folder) => {
    const cached = await cacheSample(folder, commandText());
    assertEquals(Object.keys(loadCached(cached).modules), ["c.core.wasm"]);
    for (const { name } of filesOf(cached)) {
      const path = `${cached.dir}/${name}`;
      const bytes = Deno.readFileSync(path);
      Deno.writeFileSync(path, bytes.with(bytes.length - 1, bytes.at(-1)! ^ 1));
      const error = assertThrows(() => loadCached(cached), CapsuleError);
      assertEquals(error.code, "component.cache_mismatch");
      assertStringIncludes(error.message, name);
      Deno.removeSync(path);
      assertEquals(assertThrows(() => loadCached(cached), CapsuleError).code, "component.cache_mismatch");
      Deno.writeFileSync(path, bytes);
    }
    assertEquals(Object.keys(loadCached(cached).modules), ["c.core.wasm"]);
  });
});
