import type { MemoryWatch } from "../component/mod.ts";

/** No machine has it: the engine collects all that it can before it says so. */
const MORE_THAN_THERE_IS = 2 ** 40;

/**
 * The memory of instances that do not run any more, until the collector has taken it. The engine is in no hurry: it
 * sees little heap, and not that the process may have no more of the rest.
 */
export class DeadMemory {
  #bytes = 0;
  /** Collections that were asked for; what the engine tells of those before is of the past. */
  #age = 0;
  readonly #taken = new FinalizationRegistry<{ readonly bytes: number; readonly age: number }>(({ bytes, age }) => {
    if (age === this.#age) this.#bytes -= bytes;
  });

  /** What is known to wait for the collector, bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Counts the memories of an instance that runs no more. */
  add(watch: MemoryWatch): void {
    for (const memory of watch.memories) {
      const bytes = memory.buffer.byteLength;
      this.#bytes += bytes;
      this.#taken.register(memory, { bytes, age: this.#age });
    }
  }

  /** Has all of it taken now, which holds the thread up for a while (40 ms and more). */
  collect(): void {
    this.#age++;
    this.#bytes = 0;
    try {
      new ArrayBuffer(MORE_THAN_THERE_IS);
    } catch { /* as meant */ }
  }
}
