import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import fc from "fast-check";
import { CapsuleError } from "../base/mod.ts";
import { buildSample, cacheSample, commandText, encodeText, inFolder } from "./component_fixture.ts";
import { type CoreModule, type DeclaredLimits, readCoreModule } from "./core_module.ts";
import { type CountedModule, MAX_TABLE_ENTRIES, shareMemory, shareTables, writeCaps } from "./memory_cap.ts";
import { findRun, instantiate, loadCached, MemoryWatch } from "./mod.ts";

const UNCHECKED = { core: (name: string) => name };
const PAGE = 65536;

async function readText(wat: string, instances = 1): Promise<CountedModule> {
  const bytes = await encodeText(wat);
  return { bytes, module: readCoreModule(bytes, 0, UNCHECKED), instances };
}

function capAll(modules: CountedModule[], memoryMb: number): CoreModule[] {
  const memories = shareMemory(modules, memoryMb);
  const tables = shareTables(modules);
  return modules.map((module, index) => {
    const bytes = writeCaps(module, { memories: memories[index]!, tables: tables[index]! });
    return readCoreModule(bytes, 0, UNCHECKED);
  });
}

const limits = ({ min, max }: DeclaredLimits) => [min, max];

Deno.test("writeCaps: every kind of memory and table gets its maximum; what is imported stays as it is", async () => {
  const cases: [string, (number | undefined)[][], (number | undefined)[][]][] = [
    ["(module)", [], []],
    ["(module (memory 1))", [[1, 16]], []],
    ["(module (memory 1 4))", [[1, 4]], []],
    ["(module (memory 1 400))", [[1, 16]], []],
    ["(module (memory i64 1))", [[1, 16]], []],
    ["(module (memory i64 1 0x1_0000_0000_0000))", [[1, 16]], []],
    ["(module (memory 1 400 shared))", [[1, 16]], []],
    ["(module (memory 1) (memory 3))", [[1, 7], [3, 9]], []],
    ["(module (memory 1 2) (memory 3))", [[1, 2], [3, 14]], []],
    ["(module (memory 200 400 (pagesize 1)))", [[200, 400]], []],
    ["(module (memory 200 (pagesize 1)))", [[200, 1 << 20]], []],
    ['(module (import "a" "m" (memory 1 400)) (import "a" "t" (table 1 funcref)))', [], []],
    ['(module (import "a" "m" (memory 1)) (memory 2))', [[2, 16]], []],
    ["(module (table 1 funcref))", [], [[1, MAX_TABLE_ENTRIES]]],
    ["(module (table 1 2 externref) (table 3 funcref))", [], [[1, 2], [3, MAX_TABLE_ENTRIES - 2]]],
  ];
  for (const [wat, memories, tables] of cases) {
    const module = await readText(wat);
    const [capped] = capAll([module], 1);
    assertEquals(capped!.memories.map(limits), memories, wat);
    assertEquals(capped!.tables.map(limits), tables, wat);
  }
});

Deno.test("writeCaps: a cap beyond 4 GiB leaves every memory valid", async () => {
  for (const wat of ["(module (memory 1))", "(module (memory 1) (table 1 funcref))", "(module (memory i64 1))"]) {
    const module = await readText(wat);
    const [memories] = shareMemory([module], 65536);
    const [tables] = shareTables([module]);
    const bytes = writeCaps(module, { memories: memories!, tables: tables! });
    assert(WebAssembly.validate(bytes as BufferSource), wat);
    assertEquals(readCoreModule(bytes, 0, UNCHECKED).memories[0]!.max, wat.includes("i64") ? 1 << 18 : 65536);
  }
});

Deno.test("writeCaps: the engine takes the capped module and enforces the cap; all else is byte for byte the same", async () => {
  const wat = `(module (memory (export "m") 1) (table (export "t") 1 funcref) (data (i32.const 7) "seven")
    (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0))) (@custom "note" "kept"))`;
  const module = await readText(wat);
  assert(WebAssembly.validate(module.bytes as BufferSource));
  const [memories] = shareMemory([module], 1);
  const [tables] = shareTables([module]);
  const bytes = writeCaps(module, { memories: memories!, tables: tables! });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes as BufferSource));
  const grow = exports.grow as (pages: number) => number;
  assertEquals([grow(15), grow(1), grow(0)], [1, -1, 16]);
  assertThrows(() => (exports.t as WebAssembly.Table).grow(MAX_TABLE_ENTRIES), RangeError);
  const text = new TextDecoder("latin1").decode(bytes);
  assert(text.includes("seven") && text.includes("kept"));
  const plain = await readText("(module (func))");
  assertEquals(writeCaps(plain, { memories: [], tables: [] }), plain.bytes);
});

Deno.test("shareMemory: a minimum above the cap is refused by name, one at the cap is not", async () => {
  const at = [await readText("(module (memory 16))")];
  assertEquals(capAll(at, 1)[0]!.memories.map(limits), [[16, 16]]);
  for (
    const wat of ["(module (memory 17))", "(module (memory 1) (memory 16))", "(module (memory i64 0xffff_ffff_ffff))"]
  ) {
    const above = [await readText(wat)];
    const error = assertThrows(() => shareMemory(above, 1), CapsuleError);
    assertEquals(error.code, "component.memory_exceeds_cap");
  }
  assertThrows(() => shareMemory([{ ...at[0]!, instances: 2 }], 1), CapsuleError, "starts with 2 MiB");
  const tables = [await readText(`(module (table ${MAX_TABLE_ENTRIES + 1} funcref))`)];
  assertThrows(() => shareTables(tables), CapsuleError, "table entries");
});

Deno.test("shareMemory: caps hold the minima, stay below the maxima and never sum to more than the budget", () => {
  const limit = fc.record({ min: fc.nat(40), more: fc.option(fc.nat(400), { nil: undefined }) })
    .map(({ min, more }): DeclaredLimits => ({
      flags: more === undefined ? 0 : 1,
      min,
      pageBytes: PAGE,
      start: 0,
      end: 0,
      ...(more === undefined ? {} : { max: min + more }),
    }));
  const counted = fc.record({ memories: fc.array(limit, { maxLength: 3 }), instances: fc.integer({ min: 0, max: 4 }) })
    .map(({ memories, instances }): CountedModule => ({
      bytes: new Uint8Array(),
      module: { imports: [], exports: [], memories, tables: [], limitSections: [] },
      instances,
    }));
  fc.assert(fc.property(fc.array(counted, { maxLength: 6 }), fc.integer({ min: 1, max: 64 }), (modules, memoryMb) => {
    let caps;
    try {
      caps = shareMemory(modules, memoryMb);
    } catch (error) {
      const minimum = modules.flatMap(({ module, instances }) => module.memories.map(({ min }) => min * instances));
      assert(error instanceof CapsuleError && minimum.reduce((a, b) => a + b, 0) * PAGE > memoryMb * 1024 * 1024);
      return;
    }
    let sum = 0;
    modules.forEach(({ module, instances }, index) => {
      module.memories.forEach(({ min, max }, at) => {
        const { cap } = caps[index]![at]!;
        assert(cap >= min && cap <= (max ?? Infinity) && Number.isSafeInteger(cap));
        sum += cap * PAGE * instances;
      });
    });
    assert(sum <= memoryMb * 1024 * 1024, `${sum}`);
  }));
});

Deno.test("buildComponent: memory_mb is shared by a component's modules, a module instantiated twice counting twice", async () => {
  const two = `(component
    (core module $a (memory (export "m") 10)) (core module $b (memory 20))
    (core instance (instantiate $a)) (core instance (instantiate $a)) (core instance (instantiate $b)))`;
  const { description } = await buildSample(two, 10);
  // 160 pages: 10 + 10 + 20 declared, the other 120 in three parts of 40.
  assertEquals(description.memories.map(({ min_pages, max_pages }) => [min_pages, max_pages]), [[10, 50], [20, 60]]);
  const error = await assertRejects(() => buildSample(two, 2), CapsuleError);
  assertEquals(error.code, "component.memory_exceeds_cap");
});

Deno.test("run: growth past the cap fails in the guest with -1, growth to it does not, and the watch sees it full", async () => {
  const core = '(memory (export "m") 1)';
  const grow = (pages: number) => `(i32.eq (memory.grow (i32.const ${pages})) (i32.const -1))`;
  const outcome = (pages: number) =>
    inFolder(async (folder) => {
      const cached = await cacheSample(folder, commandText({ core, body: grow(pages) }), 1);
      const watch = new MemoryWatch(cached.description.memories);
      const run = findRun(
        await instantiate(loadCached(cached), {}, { onInstance: (...told) => watch.observe(...told) }),
      )!;
      return [await run().then(() => "grew", () => "refused"), watch.fullness()];
    });
  assertEquals(await outcome(15), ["grew", 1]);
  assertEquals(await outcome(16), ["refused", 1 / 16]);
});
