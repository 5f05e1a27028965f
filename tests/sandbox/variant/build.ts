/**
 * The executable of the escape tests: the product's own source and build, but for the places of `changes.ts`. Kept in
 * `.build/variants/` by the digest of what went in; one at a time, since each is as large as the product.
 * @module
 */
import { initialize } from "esbuild";
import { createHash } from "node:crypto";
import { basename, join } from "@std/path";
import { findBaseBinary } from "../../../.ci/base_binary.ts";
import { layOut } from "../../../.ci/build.ts";
import { COMPILE_FLAGS, compileFolder, listFiles } from "../../../.ci/compile.ts";
import { REPOSITORY } from "../../harness.ts";
import { changeWalls } from "./changes.ts";

const VARIANTS = join(REPOSITORY, ".build", "variants");

/** Starts the bundler's own process, which then serves every build of this process: at the top of a test file. */
export async function startBundler(): Promise<void> {
  await initialize({});
}

/** The path of the variant of this very source, compiled when it is not there. Safe to run twice at once. */
export async function buildVariant(): Promise<string> {
  Deno.mkdirSync(VARIANTS, { recursive: true });
  const base = await findBaseBinary(join(REPOSITORY, ".build", "base"));
  const folder = Deno.makeTempDirSync({ dir: VARIANTS, prefix: ".bundle-" });
  try {
    await layOut(REPOSITORY, folder, base, {}, [changeWalls(REPOSITORY)]);
    const target = join(VARIANTS, `boll-${digestOf(folder, base.kind)}`);
    if (!isThere(target)) {
      const fresh = join(VARIANTS, `.fresh-${crypto.randomUUID()}`);
      await compileFolder(folder, base, fresh);
      Deno.renameSync(fresh, target);
      removeOthers(target);
    }
    return target;
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

function digestOf(folder: string, base: string): string {
  const hash = createHash("sha256").update([Deno.version.deno, base, ...COMPILE_FLAGS].join("\n"));
  for (const path of listFiles(folder)) hash.update(`\n${path}\n`).update(Deno.readFileSync(join(folder, path)));
  return hash.digest("hex").slice(0, 16);
}

function removeOthers(target: string): void {
  for (const { name } of Deno.readDirSync(VARIANTS)) {
    if (name.startsWith("boll-") && name !== basename(target)) Deno.removeSync(join(VARIANTS, name));
  }
}

function isThere(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
