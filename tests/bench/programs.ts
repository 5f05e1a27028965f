/**
 * The programs that are compared, compiled afresh by the project's own build from the same base binary.
 * @module
 */
import { join } from "@std/path";
import { findBaseBinary } from "../../.ci/base_binary.ts";
import { layOut, makeFast } from "../../.ci/build.ts";
import { compileFolder } from "../../.ci/compile.ts";

/** Absolute paths of executables. */
export interface Programs {
  /** `dist/boll`, as it is. */
  readonly boll: string;
  /** The same code, compiled to believe that it is not on Linux, so that it raises no kernel wall; for timing alone. */
  readonly bollWithoutHull: string;
  /** A program of no code at all. */
  readonly empty: string;
  /** The file operations, made directly. */
  readonly rawFileOperations: string;
  /** `Deno.serve` alone. */
  readonly plainServer: string;
  /** `fetch` alone. */
  readonly plainRequests: string;
}

/** Compiles what is compared into `folder`. */
export async function compilePrograms(root: string, folder: string): Promise<Programs> {
  const base = await findBaseBinary(join(root, ".build", "base"));
  const compile = async (name: string, fill: (source: string) => Promise<unknown> | void) => {
    const source = join(folder, `${name}.source`);
    Deno.mkdirSync(source);
    await fill(source);
    await compileFolder(source, base, join(folder, name));
    return join(folder, name);
  };
  const script = (name: string, file: string) =>
    compile(name, (source) => Deno.copyFileSync(join(import.meta.dirname!, file), join(source, "main.js")));
  return {
    boll: join(root, "dist", "boll"),
    bollWithoutHull: await compile(
      "boll-without-hull",
      async (source) => {
        const define = { "Deno.build.os": "none" };
        await layOut(root, source, base, define);
        await makeFast(root, source, base, define);
      },
    ),
    empty: await compile("empty", (source) => Deno.writeTextFileSync(join(source, "main.js"), "")),
    rawFileOperations: await script("raw", "raw_file_operations.js"),
    plainServer: await script("plain-server", "plain_server.js"),
    plainRequests: await script("plain-requests", "plain_requests.js"),
  };
}
