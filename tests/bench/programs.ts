/**
 * The programs that are compared, compiled afresh by the project's own build from the same base binary.
 * @module
 */
import { join } from "@std/path";
import { findBaseBinary } from "../../.ci/base_binary.ts";
import { layOut, makeFast } from "../../.ci/build.ts";
import { bundleProgram } from "../../.ci/bundle.ts";
import { COMPILE_FLAGS, compileFolder } from "../../.ci/compile.ts";

/** Absolute paths of executables. */
export interface Programs {
  /** `dist/boll`, as it is. */
  readonly boll: string;
  /** The same code, compiled to believe that it is not on Linux, so that it raises no kernel wall; for timing alone. */
  readonly bollWithoutHull: string;
  /** A program of no code at all. */
  readonly empty: string;
  /** One that says that it is up and then waits. */
  readonly idle: string;
  /** The file operations, made directly. */
  readonly rawFileOperations: string;
  /** `Deno.serve` alone. */
  readonly plainServer: string;
  /** The door alone, `doors/door_server.ts`. */
  readonly doorServer: string;
  /** What the A2A SDK serves by itself, `doors/sdk_server.ts`. */
  readonly sdkServer: string;
  /** `fetch` alone. */
  readonly plainRequests: string;
  /** A supervisor and what measures it, `tree/main.ts`. */
  readonly tree: string;
  /** `tree/frame_child.ts`. */
  readonly frameChild: string;
}

/** A program that is compiled here. */
export type ProgramName = Exclude<keyof Programs, "boll">;

/** Who measures other processes must read what `/proc` has of them, which the runtime gives to nobody who has less. */
const ALLOW_ALL = [...COMPILE_FLAGS.filter((flag) => !/^--(allow|deny)-/.test(flag)), "--allow-all"];

/** Compiles those that are wanted into `folder`; the paths of the others lead nowhere. */
export async function compilePrograms(
  root: string,
  folder: string,
  wanted: ReadonlySet<ProgramName>,
): Promise<Programs> {
  const base = await findBaseBinary(join(root, ".build", "base"));
  const copy = (file: string) => (source: string) =>
    Deno.copyFileSync(join(import.meta.dirname!, file), join(source, "main.js"));
  const bundle = (entry: string) => (outputFolder: string) =>
    bundleProgram({ root, outputFolder, define: { BOLL_VERSION: "bench", BOLL_BASE: base.kind } }, entry);
  const fill: Readonly<Record<ProgramName, (source: string) => Promise<unknown> | void>> = {
    async bollWithoutHull(source) {
      const define = { "Deno.build.os": "none" };
      await layOut(root, source, base, define);
      await makeFast(root, source, base, define);
    },
    empty: (source) => Deno.writeTextFileSync(join(source, "main.js"), ""),
    idle: copy("idle.js"),
    rawFileOperations: copy("raw_file_operations.js"),
    plainServer: copy("plain_server.js"),
    plainRequests: copy("plain_requests.js"),
    doorServer: bundle("tests/bench/doors/door_server.ts"),
    sdkServer: bundle("tests/bench/doors/sdk_server.ts"),
    tree: bundle("tests/bench/tree/main.ts"),
    frameChild: bundle("tests/bench/tree/frame_child.ts"),
  };
  const paths: Record<string, string> = { boll: join(root, "dist", "boll") };
  for (const name of Object.keys(fill) as ProgramName[]) {
    paths[name] = join(folder, name);
    if (!wanted.has(name)) continue;
    const source = `${paths[name]}.source`;
    Deno.mkdirSync(source);
    await fill[name](source);
    await compileFolder(source, base, paths[name], name === "tree" ? ALLOW_ALL : COMPILE_FLAGS);
  }
  return paths as unknown as Programs;
}
