import type { MemoryPages } from "./description.ts";

/** Watches the memories that a component exports between its modules, to tell how near each is to its cap. */
export class MemoryWatch {
  readonly #caps = new Map<string, number>();
  readonly #seen = new Map<WebAssembly.Memory, number>();

  /** `memories` is the description's list. */
  constructor(memories: readonly MemoryPages[]) {
    for (const { module, max_pages, page_bytes } of memories) {
      const bytes = max_pages * page_bytes;
      this.#caps.set(module, Math.min(bytes, this.#caps.get(module) ?? bytes));
    }
  }

  /** Takes note of an instance's exported memories (what `instantiate` tells of); a memory belongs to the first module seen with it. */
  observe(instance: WebAssembly.Instance, module: string): void {
    const cap = this.#caps.get(module);
    if (cap === undefined) return;
    for (const value of Object.values(instance.exports)) {
      if (value instanceof WebAssembly.Memory && !this.#seen.has(value)) this.#seen.set(value, cap);
    }
  }

  /** Those that were seen. */
  get memories(): Iterable<WebAssembly.Memory> {
    return this.#seen.keys();
  }

  /** How full the fullest memory is, 0 to 1 of its cap. */
  fullness(): number {
    let fullest = 0;
    for (const [memory, cap] of this.#seen) {
      if (cap > 0) fullest = Math.max(fullest, memory.buffer.byteLength / cap);
    }
    return fullest;
  }
}
