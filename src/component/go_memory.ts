import { ByteReader } from "./byte_reader.ts";
import type { CoreModule } from "./core_module.ts";
import { writeCaps } from "./memory_cap.ts";

/** The section that Go's own linker writes into every program. */
const GO_SECTION = "go:buildid";
const PAGES_PER_MB = 16;

/**
 * Keeps a Go program and the preview1 adapter out of each other's memory. Go's runtime takes what `memory.grow` gives to
 * follow on what it had, and never looks where it is; so the pages that the adapter grew by would be overwritten by Go's
 * heap. A Go program starts here with half of what it may grow by: the adapter's pages, which come above that, are then
 * out of reach of a heap that may grow by the other half. Untouched pages take no memory. Any other module is left as
 * it is. The module must have been validated.
 */
export function separateGoHeap(bytes: Uint8Array, module: CoreModule, memoryMb: number): Uint8Array {
  const [memory] = module.memories;
  if (memory === undefined || module.exports.includes("cabi_realloc") || !isGoProgram(bytes)) return bytes;
  const most = Math.min(memory.max ?? Number.MAX_SAFE_INTEGER, memoryMb * PAGES_PER_MB);
  if (most <= memory.min) return bytes;
  const min = memory.min + Math.ceil((most - memory.min) / 2);
  return writeCaps({ bytes, module, instances: 1 }, { memories: [{ ...memory, min, cap: most }], tables: [] });
}

function isGoProgram(bytes: Uint8Array): boolean {
  let isFound = false;
  new ByteReader(bytes).sections((id, content) => {
    if (id === 0 && content.peek() === GO_SECTION.length) isFound ||= content.name(GO_SECTION.length) === GO_SECTION;
  });
  return isFound;
}
