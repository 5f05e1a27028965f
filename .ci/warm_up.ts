import { join } from "@std/path";
import type { WarmUp } from "./code_cache.ts";

/** Prints a line, by standard streams alone: its cell needs no thread of its own. */
const PRINTS = "tests/fixtures/guests/hello_stdio.wat";
/** Reads and writes files. */
const READS = "tests/bench/file_operations.wat";

const MANIFEST = { name: "warm-up", version: "1.0.0", component: "reads.wasm" };

/** What a user does most: a guest with files that a capsule describes, and one that only prints. */
export async function makeWarmUps(scratch: string): Promise<WarmUp[]> {
  // The tools read files from their import on.
  const { buildText } = await import("../tests/fixtures/build.ts");
  const capsule = join(scratch, "capsule");
  const data = join(scratch, "data");
  for (const folder of [capsule, data]) Deno.mkdirSync(folder);
  Deno.writeFileSync(join(data, "bench.bin"), new Uint8Array(4096));
  Deno.writeTextFileSync(join(capsule, "capsule.jsonc"), JSON.stringify(MANIFEST));
  const text = (path: string) => Deno.readTextFileSync(join(import.meta.dirname!, "..", path));
  const reads = text(READS).replaceAll("OPERATION", "read_file").replaceAll("COUNT", "2");
  Deno.writeFileSync(join(capsule, "reads.wasm"), await buildText(reads));
  Deno.writeFileSync(join(scratch, "prints.wasm"), await buildText(text(PRINTS)));
  const run = ["run", "--quiet", "--accept"];
  return [
    { args: [...run, join(scratch, "prints.wasm")], roles: ["cell.js"] },
    { args: [...run, "--mount", `${data}:/data:rw`, capsule], roles: ["cli.js", "worker.js"] },
  ];
}
