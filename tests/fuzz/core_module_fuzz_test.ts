/** Core modules: what the engine takes, the own parser reads and the own writer keeps whole, below its caps. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { errorCodeOf } from "../../src/base/mod.ts";
import { encodeText, joinBytes, nameBytes, section } from "../../src/component/component_fixture.ts";
import { readComponentNames } from "../../src/component/component_names.ts";
import { type CoreModule, readCoreModule } from "../../src/component/core_module.ts";
import { separateGoHeap } from "../../src/component/go_memory.ts";
import {
  type CountedModule,
  MAX_TABLE_ENTRIES,
  shareMemory,
  shareTables,
  writeCaps,
} from "../../src/component/memory_cap.ts";
import { NameCheck } from "../../src/component/name_grammar.ts";
import { byteMutation, mutateBytes } from "./byte_mutation.ts";
import { coreModules, largeComponents, smallComponents } from "./components.ts";
import { fuzz, refusalOf } from "./fuzz.ts";
import { keptBytes } from "./kept_cases.ts";
import { mutateSections, sectionMutation, sectionsOf } from "./section_mutation.ts";

const MEBIBYTE = 2 ** 20;
const UNCHECKED = { core: (name: string) => name };
const small = await smallComponents();
const modules = coreModules([...small, ...await largeComponents()]).filter((bytes) => bytes.length < 60_000);

/** A module that was done wrong to, within its sections and below them. */
const damaged = fc.tuple(
  fc.constantFrom(...modules),
  fc.array(sectionMutation, { maxLength: 3 }),
  fc.constantFrom(...modules),
  fc.array(byteMutation(), { maxLength: 2 }),
).map(([base, changes, donor, bytes]) => mutateBytes(mutateSections(base, changes, donor), bytes));

/** Memories and tables with limits of every kind, which the engine may refuse. */
const declared = fc.record({
  memories: fc.array(limitsOf("memory"), { maxLength: 4 }),
  tables: fc.array(limitsOf("table"), { maxLength: 3 }),
});

function limitsOf(kind: "memory" | "table"): fc.Arbitrary<string> {
  const pages = fc.oneof(fc.nat(4), fc.nat(70_000), fc.constantFrom(65_535, 65_536, 65_537, 2 ** 32 - 1, 2 ** 53 - 1));
  return fc.record({ min: fc.oneof(fc.nat(4), pages), max: fc.option(pages), wide: fc.boolean(), shared: fc.boolean() })
    .map(({ min, max, wide, shared }) => {
      const limits = `${wide ? "i64 " : ""}${min} ${max ?? ""}`;
      return kind === "memory"
        ? `(memory ${limits} ${shared && max !== null ? "shared" : ""})`
        : `(table ${limits} funcref)`;
    });
}

/** What the engine says; it refuses what is no module, and never throws. */
function isValid(bytes: Uint8Array): boolean {
  return WebAssembly.validate(bytes as BufferSource);
}

/** The capped module, or the code of the refusal. */
function cap(bytes: Uint8Array, module: CoreModule, memoryMb: number, instances: number): Uint8Array | undefined {
  const counted: CountedModule = { bytes, module, instances };
  let capped: Uint8Array | undefined;
  refusalOf(() => {
    const [memories, tables] = [shareMemory([counted], memoryMb)[0]!, shareTables([counted])[0]!];
    capped = writeCaps(counted, { memories, tables });
  });
  return capped;
}

function checkCaps(before: Uint8Array, after: Uint8Array, memoryMb: number, instances: number): void {
  assert(isValid(after), "the capped module is not valid");
  const [old, now] = [sectionsOf(before)!, sectionsOf(after)!];
  assertEquals(now.map(({ id }) => id), old.map(({ id }) => id), "the sections");
  for (const [index, { id, content }] of now.entries()) {
    if (id !== 4 && id !== 5) assertEquals(content, old[index]!.content, `section ${id}`);
  }
  const [was, is] = [readCoreModule(before, 0, UNCHECKED), readCoreModule(after, 0, UNCHECKED)];
  for (const kind of ["memories", "tables"] as const) {
    assertEquals(is[kind].map(({ min }) => min), was[kind].map(({ min }) => min));
    for (const [index, { max }] of is[kind].entries()) assert(max! <= (was[kind][index]!.max ?? Infinity), kind);
  }
  const bytes = is.memories.reduce((sum, { max, pageBytes }) => sum + max! * pageBytes, 0);
  assert(bytes * instances <= memoryMb * MEBIBYTE, `${bytes} bytes of memory, ${instances} times`);
  const entries = is.tables.reduce((sum, { max }) => sum + max!, 0);
  assert(entries * instances <= MAX_TABLE_ENTRIES, `${entries} table entries, ${instances} times`);
}

fuzz("a valid core module is read or is not supported, and capped it is valid and has all its sections", {
  input: fc.tuple(damaged, fc.integer({ min: 1, max: 128 }), fc.integer({ min: 1, max: 3 })),
  runs: 3_500,
  check([bytes, memoryMb, instances]) {
    const refusal = refusalOf(() => readCoreModule(bytes, 0, UNCHECKED));
    if (!isValid(bytes)) return;
    if (refusal !== undefined) return assertEquals(errorCodeOf(refusal), "component.unsupported", refusal.message);
    const capped = cap(bytes, readCoreModule(bytes, 0, UNCHECKED), memoryMb, instances);
    if (capped !== undefined) checkCaps(bytes, capped, memoryMb, instances);
  },
});

fuzz("whatever limits a valid core module declares, it never has more than its cap", {
  input: fc.tuple(declared, fc.integer({ min: 1, max: 70_000 }), fc.integer({ min: 1, max: 400 })),
  runs: 1_500,
  async check([{ memories, tables }, memoryMb, instances]) {
    const bytes = await encodeText(`(module ${memories.join(" ")} ${tables.join(" ")})`).catch(() => undefined);
    if (bytes === undefined || !isValid(bytes)) return;
    const capped = cap(bytes, readCoreModule(bytes, 0, UNCHECKED), memoryMb, instances);
    if (capped !== undefined) checkCaps(bytes, capped, memoryMb, instances);
  },
});

fuzz("a memory grows to its cap and no page further", {
  input: fc.tuple(fc.nat(20), fc.option(fc.nat(80)), fc.integer({ min: 1, max: 4 }), fc.boolean()),
  runs: 150,
  async check([min, max, memoryMb, wide]) {
    if (max !== null && max < min) return;
    const one = wide ? "(i64.const 1)" : "(i32.const 1)";
    const bytes = await encodeText(
      `(module (memory ${wide ? "i64" : ""} ${min} ${max ?? ""}) (func (export "grow") (result ${
        wide ? "i64" : "i32"
      }) (memory.grow ${one})))`,
    );
    const capped = cap(bytes, readCoreModule(bytes, 0, UNCHECKED), memoryMb, 1);
    if (capped === undefined) return assert(min * 65_536 > memoryMb * MEBIBYTE);
    const grow = new WebAssembly.Instance(new WebAssembly.Module(capped as BufferSource)).exports.grow as () => number;
    let pages = min;
    while (Number(grow()) >= 0) pages++;
    assertEquals(pages, Math.min(max ?? Infinity, memoryMb * 16));
  },
});

const go = fc.tuple(
  damaged,
  fc.array(byteMutation(), { maxLength: 2 }),
  fc.array(fc.nat(0xffff_ffff), { maxLength: 14 }),
  fc.nat(70_000),
);

fuzz("whatever calls itself a Go program is left, moved whole, or refused", {
  input: go,
  kept: keptBytes("component").map((bytes): [Uint8Array, [], [], number] => [bytes, [], [], 0]),
  runs: 1_500,
  check([base, changes, addresses, pages]) {
    const mark = section(0, joinBytes([nameBytes("go:buildid"), Uint8Array.of(1)]));
    const bytes = mutateBytes(joinBytes([base, mark]), changes);
    for (const candidate of [bytes, goLike(addresses, pages)]) {
      if (!isValid(candidate)) continue;
      let apart: Uint8Array = candidate;
      const refusal = refusalOf(() => apart = separateGoHeap(candidate, readCoreModule(candidate, 0, UNCHECKED)));
      if (refusal === undefined) assert(isValid(apart), "the program with its heap apart is not valid");
    }
  },
});

/** A module with a table of addresses where Go has its own, and so many pages. */
function goLike(addresses: readonly number[], pages: number): Uint8Array {
  const table = new DataView(new ArrayBuffer(8 * addresses.length));
  addresses.forEach((address, index) => table.setUint32(8 * index, address, true));
  const min = [(pages & 127) | 128, ((pages >> 7) & 127) | 128, pages >> 14];
  const data = joinBytes([
    Uint8Array.of(1, 0, 0x41, 8, 0x0b),
    Uint8Array.of(table.byteLength),
    new Uint8Array(table.buffer),
  ]);
  return joinBytes([
    Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0),
    section(5, Uint8Array.of(1, 0, ...min)),
    section(11, data),
    section(0, joinBytes([nameBytes("go:buildid"), Uint8Array.of(1)])),
  ]);
}

fuzz("names of a damaged component are read or refused", {
  input: fc.tuple(
    fc.constantFrom(...small),
    fc.array(sectionMutation, { minLength: 1, maxLength: 4 }),
    fc.constantFrom(...small),
    fc.array(byteMutation(), { maxLength: 3 }),
  ),
  runs: 3_000,
  check([base, changes, donor, bytes]) {
    const wrong = mutateBytes(mutateSections(base, changes, donor), bytes);
    refusalOf(() => readComponentNames(wrong, new NameCheck()));
  },
});
