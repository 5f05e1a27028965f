import { assert, assertEquals, assertThrows } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { buildComponent } from "./build.ts";
import { encodeText, inFolder } from "./component_fixture.ts";
import { readCoreModule } from "./core_module.ts";
import { separateGoHeap } from "./go_memory.ts";

const NO_CHECK = { core: (name: string) => name };
const GO = '(@custom "go:buildid" "x")';
const END = 3 * 65_536 - 100;
/** What the linker gives a program whose data ends at END. */
const MEMORY = '(memory (export "memory") 18)';

/** `moduledata` as far as it is looked for, at 4096: addresses in order up to `end`, then one that is lower. */
function moduleData(end = END): string {
  const addresses = [
    1,
    2,
    100_000,
    110_000,
    110_000,
    120_000,
    120_000,
    130_000,
    130_000,
    140_000,
    150_000,
    end,
    end,
    9,
  ];
  const bytes = new Uint8Array(addresses.length * 8);
  addresses.forEach((address, index) => new DataView(bytes.buffer).setUint32(8 * index, address, true));
  const text = [...bytes].map((byte) => `\\${byte.toString(16).padStart(2, "0")}`).join("");
  return `(data (i32.const 0) "x") (data (i32.const 4096) "${text}")`;
}

/** A program that tells where its data ends. */
function program(fields: string): Promise<Uint8Array> {
  return encodeText(`(module (import "wasi_snapshot_preview1" "random_get" (func (param i32 i32) (result i32)))
    (global (mut i32) (i32.const 7)) ${fields}
    (func (export "end") (result i32) (i32.load (i32.const 4192)))
    (func (export "_start") (drop (call 0 (i32.const 0) (i32.const 8)))))`);
}

function separate(bytes: Uint8Array): Uint8Array {
  return separateGoHeap(bytes, readCoreModule(bytes, 0, NO_CHECK));
}

Deno.test("separateGoHeap: a Go program's data ends later, and cabi_realloc gives out what lies between, once", async () => {
  const module = new WebAssembly.Module(separate(await program(`${GO} ${MEMORY} ${moduleData()}`)) as BufferSource);
  const { exports } = new WebAssembly.Instance(module, { wasi_snapshot_preview1: { random_get: () => 0 } });
  const end = (exports.end as () => number)();
  const realloc = exports.cabi_realloc as (...args: number[]) => number;
  assertEquals((exports.memory as WebAssembly.Memory).buffer.byteLength, 22 * 65_536);
  const given = [[65_536, 65_536], [5, 16], [65_536, 65_536], [65_520, 65_520], [65_536, 65_536]].map(
    ([asked, taken]) => {
      const at = realloc(0, 0, 8, asked!);
      return [at, at + taken!] as const;
    },
  );
  let free = 3 * 65_536;
  for (const [from, to] of given) {
    assertEquals(from, free);
    free = to;
  }
  // Go rounds the end of its data up to a page, and begins its heap there.
  assert(free <= Math.ceil(end / 65_536) * 65_536 && end === END + 4 * 65_536, `${free} ${end}`);
  assertThrows(() => realloc(0, 0, 8, 1), WebAssembly.RuntimeError);
  assertThrows(() => realloc(9, 9, 8, 0), WebAssembly.RuntimeError);
});

Deno.test("separateGoHeap: leaves any other module as it is, refuses a Go program of another layout", async () => {
  const data = moduleData();
  for (const fields of [`${MEMORY} ${data}`, `(@custom "go:buildix" "x") (@custom "" "x") ${MEMORY} ${data}`]) {
    const bytes = await program(fields);
    assertEquals(separate(bytes), bytes);
  }
  const own = await program(`${GO} ${MEMORY} ${data} (func (export "cabi_realloc"))`);
  assertEquals(separate(own), own);
  const strange = [
    MEMORY,
    `(memory 19) ${data}`,
    `${MEMORY} ${moduleData(600_000)}`,
    `${MEMORY} ${data} (data "passive")`,
  ];
  for (const fields of strange) {
    const bytes = await program(`${GO} ${fields}`);
    assertThrows(() => separate(bytes), CapsuleError);
  }
});

Deno.test("separateGoHeap: a memory without room for the adapter's pages is refused, one with room to the page is not", async () => {
  const data = moduleData();
  const room = separate(await program(`${GO} (memory (export "memory") 18 22) ${data}`));
  assert(WebAssembly.validate(room as BufferSource));
  for (const memory of ["(memory 18 21)", "(memory 18 18)", "(memory 65533)"]) {
    const bytes = await program(`${GO} ${memory} ${data}`);
    assertEquals(assertThrows(() => separate(bytes), CapsuleError).code, "component.unsupported", memory);
  }
  const wide = await encodeText(`(module ${GO} (memory i64 18 30))`);
  assertEquals(assertThrows(() => separate(wide), CapsuleError).code, "component.unsupported");
});

Deno.test("separateGoHeap: the addresses are found where the program leaves their zeros out, and among 4 GiB of pages", async () => {
  const cut = moduleData().replace(/(\\09)(\\00){7}"/, '$1"').replace(
    /"(\\01)(\\00){7}/,
    '"$1") (data (i32.const 4104) "',
  );
  const bytes = await program(`${GO} ${MEMORY} ${cut}`);
  const module = new WebAssembly.Module(separate(bytes) as BufferSource);
  const { exports } = new WebAssembly.Instance(module, { wasi_snapshot_preview1: { random_get: () => 0 } });
  assertEquals((exports.end as () => number)(), END + 4 * 65_536);
  const far = await program(`${GO} (memory 65532) (data (i32.const -65536) "far")`);
  assertThrows(() => separate(far), CapsuleError, "found the end of its data 0 times");
});

Deno.test("buildComponent: an adapted Go program has its pages besides, any other module its own alone", async () => {
  for (const [head, min] of [[GO, 22], ["", 18]] as const) {
    await inFolder(async (folder) => {
      const { description } = await buildComponent(await program(`${head} ${MEMORY} ${moduleData()}`), folder, {
        memoryMb: 64,
      });
      assertEquals(description.memories, [{ ...description.memories[0]!, min_pages: min, max_pages: 1024 }]);
    });
  }
});
