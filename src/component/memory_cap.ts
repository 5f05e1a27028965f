import { CapsuleError } from "../base/mod.ts";
import type { CoreModule, DeclaredLimits } from "./core_module.ts";
import { encodeUnsigned, joinBytes } from "./core_writer.ts";

/** The most entries of all tables of a component together: about 40 MB in V8, in addition to the memory cap. */
export const MAX_TABLE_ENTRIES = 1 << 20;
/** The most memories and tables of a component, counted once per instance. */
const MAX_LIMITS = 1000;

/** A core module, what it declares, and how many times the component instantiates it. */
export interface CountedModule {
  readonly bytes: Uint8Array;
  readonly module: CoreModule;
  readonly instances: number;
}

/** A memory or table and the maximum it was given, in its own pages or entries. */
export interface CappedLimits extends DeclaredLimits {
  readonly cap: number;
}

/**
 * Shares a memory budget among the modules of a component: declared minima first, the rest in equal parts, what one
 * cannot use (its own maximum is lower) going to the others. A module instantiated twice counts twice.
 * Answers one list per module, in order.
 * @throws component.memory_exceeds_cap | component.unsupported
 */
export function shareMemory(modules: readonly CountedModule[], memoryMb: number): CappedLimits[][] {
  const demands = modules.map(({ module, instances }) => ({ limits: module.memories, instances }));
  return share(demands, memoryMb * 1024 * 1024, (minimum) => {
    const found = Math.ceil(minimum / (1024 * 1024));
    throw new CapsuleError(
      "component.memory_exceeds_cap",
      `Cap memory: the component starts with ${found} MiB, found a cap of ${memoryMb} MiB; ` +
        `raise limits.memory_mb in the manifest or --memory to at least ${found}`,
    );
  });
}

/** As {@link shareMemory}, for table entries and {@link MAX_TABLE_ENTRIES}. @throws component.memory_exceeds_cap | component.unsupported */
export function shareTables(modules: readonly CountedModule[]): CappedLimits[][] {
  const demands = modules.map(({ module, instances }) => ({ limits: module.tables, instances }));
  return share(demands, MAX_TABLE_ENTRIES, (minimum) => {
    throw new CapsuleError(
      "component.memory_exceeds_cap",
      `Cap tables: the component starts with ${minimum} table entries, wanted at most ${MAX_TABLE_ENTRIES}`,
    );
  });
}

interface Demand {
  readonly limits: readonly DeclaredLimits[];
  readonly instances: number;
}

function share(demands: readonly Demand[], budget: number, refuse: (minimum: number) => never): CappedLimits[][] {
  const all = demands.flatMap(({ limits, instances }) => limits.map((limit) => ({ limit, instances })));
  let heads = all.reduce((sum, { instances }) => sum + instances, 0);
  if (heads > MAX_LIMITS) {
    throw new CapsuleError(
      "component.unsupported",
      `Cap memory: found ${heads} memories or tables, wanted ${MAX_LIMITS}`,
    );
  }
  const minimum = all.reduce((sum, { limit, instances }) => sum + limit.min * limit.pageBytes * instances, 0);
  if (minimum > budget) refuse(minimum);
  let rest = budget - minimum;
  const caps = new Map<DeclaredLimits, number>();
  const slack = (limit: DeclaredLimits) => (highest(limit) - limit.min) * limit.pageBytes;
  // Lowest appetite first, so that what it leaves is shared by those after it.
  for (const { limit, instances } of all.sort((a, b) => slack(a.limit) - slack(b.limit))) {
    const part = heads === 0 ? 0 : Math.min(slack(limit), Math.floor(rest / heads));
    const pages = Math.floor(part / limit.pageBytes);
    caps.set(limit, limit.min + pages);
    rest -= pages * limit.pageBytes * instances;
    heads -= instances;
  }
  return demands.map(({ limits }) => limits.map((limit) => ({ ...limit, cap: caps.get(limit)! })));
}

/** The declared maximum, at most what the engine takes: 4 GiB with 32-bit indices, 16 GiB with 64-bit ones. */
function highest({ max = Number.MAX_SAFE_INTEGER, flags, pageBytes }: DeclaredLimits): number {
  return Math.min(max, (flags & 4 ? 2 ** 34 : 2 ** 32) / pageBytes);
}

/**
 * The module with each memory's and table's maximum set to its cap; the same bytes when it declares none. The module
 * must have been validated: sections are rewritten by offset.
 */
export function writeCaps(
  { bytes, module }: CountedModule,
  caps: { readonly memories: readonly CappedLimits[]; readonly tables: readonly CappedLimits[] },
): Uint8Array {
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const section of module.limitSections) {
    const inside = (section.id === 5 ? caps.memories : caps.tables)
      .filter(({ start }) => start >= section.content && start < section.end);
    const content: Uint8Array[] = [];
    let at = section.content;
    for (const limit of inside) {
      content.push(bytes.subarray(at, limit.start), encodeLimits(limit));
      at = limit.end;
    }
    content.push(bytes.subarray(at, section.end));
    const body = joinBytes(content);
    parts.push(bytes.subarray(from, section.start), Uint8Array.of(section.id, ...encodeUnsigned(body.length)), body);
    from = section.end;
  }
  return parts.length === 0 ? bytes : joinBytes([...parts, bytes.subarray(from)]);
}

function encodeLimits({ flags, min, cap, pageBytes }: CappedLimits): Uint8Array {
  const size = flags & 8 ? encodeUnsigned(Math.log2(pageBytes)) : [];
  return Uint8Array.of(flags | 1, ...encodeUnsigned(min), ...encodeUnsigned(cap), ...size);
}
