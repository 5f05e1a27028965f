import { assertEquals, assertRejects } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { digestBytes } from "../manifest/mod.ts";
import { ensureComponent } from "./build_component.ts";

/** A component with nothing in it, and the same with an empty custom section. */
const EMPTY = Uint8Array.of(0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0);
const OTHER = Uint8Array.of(...EMPTY, 0, 2, 1, 0x78);

Deno.test("ensureComponent: a file that was replaced after it was digested is neither built nor kept under that digest", async () => {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "boll-build-" }));
  try {
    const componentPath = `${root}/a.wasm`;
    Deno.mkdirSync(`${root}/cache`, { mode: 0o700 });
    const build = (digest: string) =>
      ensureComponent({ cacheRoot: `${root}/cache`, componentPath, digest, memoryMb: 1, hull: false });
    Deno.writeFileSync(componentPath, OTHER);
    const error = await assertRejects(() => build(digestBytes(EMPTY)), CapsuleError);
    assertEquals(error.code, "component.build_failed");
    assertEquals([...Deno.readDirSync(`${root}/cache`)], []);
    assertEquals((await build(digestBytes(OTHER))).digest, digestBytes(OTHER));
    Deno.writeFileSync(componentPath, EMPTY);
    assertEquals((await build(digestBytes(EMPTY))).digest, digestBytes(EMPTY));
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});
