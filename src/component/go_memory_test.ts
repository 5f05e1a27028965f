import { assertEquals } from "@std/assert";
import { buildComponent } from "./build.ts";
import { encodeText, inFolder } from "./component_fixture.ts";
import { readCoreModule } from "./core_module.ts";
import { separateGoHeap } from "./go_memory.ts";

const NO_CHECK = { core: (name: string) => name };
const IMPORT = '(import "wasi_snapshot_preview1" "random_get" (func (param i32 i32) (result i32)))';
const GO = '(@custom "go:buildid" "x")';

async function minimumOf(fields: string, memoryMb: number): Promise<number> {
  const bytes = await encodeText(`(module ${fields})`);
  const fixed = separateGoHeap(bytes, readCoreModule(bytes, 0, NO_CHECK), memoryMb);
  assertEquals(WebAssembly.validate(fixed as BufferSource), true);
  return readCoreModule(fixed, 0, NO_CHECK).memories[0]!.min;
}

Deno.test("separateGoHeap: what a Go program may grow by is never more than what it starts with above its own", async () => {
  const memory = '(memory (export "memory") 49)';
  for (const [memoryMb, most] of [[64, 1024], [512, 8192], [3, 48]] as const) {
    const min = await minimumOf(`${GO} ${memory}`, memoryMb);
    assertEquals([min >= 49, most - min <= min - 49 || most < 49], [true, true], `${memoryMb}: ${min}`);
  }
  assertEquals(await minimumOf(`${GO} (memory 49 149)`, 512), 99);
  assertEquals(await minimumOf(memory, 64), 49);
  assertEquals(await minimumOf(`(@custom "go:buildix" "x") (@custom "" "x") ${memory}`, 64), 49);
  assertEquals(await minimumOf(`${GO} ${memory} (func (export "cabi_realloc"))`, 64), 49);
});

Deno.test("buildComponent: an adapted Go program has its heap apart, any other module its own minimum", async () => {
  for (const [head, min] of [[GO, 513], ["", 1]] as const) {
    await inFolder(async (folder) => {
      const bytes = await encodeText(`(module ${head} ${IMPORT} (memory (export "memory") 1)
        (func (export "_start") (drop (call 0 (i32.const 0) (i32.const 8)))))`);
      const { description } = await buildComponent(bytes, folder, { memoryMb: 64 });
      assertEquals(description.memories, [{ ...description.memories[0]!, min_pages: min, max_pages: 1024 }]);
    });
  }
});
