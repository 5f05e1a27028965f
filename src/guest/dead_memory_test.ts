import { assertEquals } from "@std/assert";
import { MemoryWatch } from "../component/mod.ts";
import { DeadMemory } from "./dead_memory.ts";

/** (module (memory (export "m") 16)) */
const MODULE = new WebAssembly.Module(
  Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 5, 3, 1, 0, 16, 7, 5, 1, 1, 109, 2, 0),
);

/** Watches a memory that nobody has any more. */
function deadWatch(): MemoryWatch {
  const watch = new MemoryWatch([{ module: "m", min_pages: 16, max_pages: 16, page_bytes: 65_536 }]);
  watch.observe(new WebAssembly.Instance(MODULE), "m");
  return watch;
}

Deno.test("DeadMemory: what was added counts until it is collected, and is not counted down twice", async () => {
  const dead = new DeadMemory();
  for (let at = 0; at < 3; at++) dead.add(deadWatch());
  assertEquals(dead.bytes, 3 * 16 * 65_536);
  dead.collect();
  assertEquals(dead.bytes, 0);
  dead.add(deadWatch());
  await new Promise((resolve) => setTimeout(resolve, 5)); // the engine tells of what it took
  assertEquals(dead.bytes, 16 * 65_536);
});
