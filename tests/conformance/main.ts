/**
 * Runs the programs of a folder with `dist/boll run` and holds each against the description beside it, in the form of
 * WASI's own test suite: `NAME.wasm` and `NAME.json` (`args`, `env`, `dirs`, `exit_code`, `stdout`, `stderr`).
 *
 * `deno task conformance DIR [FILTER]`; the programs are brought, none is kept here. Exits 0 when every one was right.
 * @module
 */
import { basename, dirname, join, relative } from "@std/path";
import { listFiles } from "../../.ci/compile.ts";
import { Bed } from "../harness.ts";
import { judge, type Program, readProgram } from "./program.ts";

async function main([folder, filter = ""]: readonly string[]): Promise<number> {
  if (folder === undefined) throw new Error("Run programs: found no folder, wanted one that holds .wasm files");
  const paths = listFiles(folder).filter((path) => path.endsWith(".wasm") && path.includes(filter));
  let failed = 0;
  for (const path of paths) {
    const program = readProgram(join(folder, path));
    const wrong = program.unfit === undefined ? judge(program, await run(program)) : [program.unfit];
    failed += wrong.length > 0 ? 1 : 0;
    console.log([`${wrong.length > 0 ? "FAIL" : "pass"} ${relative(".", path)}`, ...wrong].join("\n     "));
  }
  console.log(`${paths.length - failed} passed, ${failed} failed`);
  return failed === 0 && paths.length > 0 ? 0 : 1;
}

/** In a bed of its own, on copies of its folders, each shown below the guest's root under its own name. */
async function run(program: Program): Promise<{ code: number; stdout: string; stderr: string }> {
  await using bed = new Bed("binary");
  const mounts = program.dirs.flatMap((dir) => {
    const copy = bed.folder(dir);
    copyFolder(join(dirname(program.path), dir), copy);
    return ["--mount", `${copy}:/${basename(dir)}:rw`];
  });
  const variables = Object.entries(program.env).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
  return await bed.run(["run", program.path, "--quiet", ...mounts, ...variables, "--", ...program.args]);
}

function copyFolder(from: string, to: string): void {
  for (const path of listFiles(from)) {
    Deno.mkdirSync(dirname(join(to, path)), { recursive: true });
    Deno.copyFileSync(join(from, path), join(to, path));
  }
}

if (import.meta.main) {
  try {
    Deno.exitCode = await main(Deno.args);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exitCode = 2;
  }
}
