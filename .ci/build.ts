/**
 * Makes `dist/boll`: bundles per role, the vendored tools beside them, compiled into one executable by `deno compile`.
 * The same source gives the same bytes. An executable that is up to date is left alone. Safe to run twice at once.
 * @module
 */
import { type Plugin, stop } from "esbuild";
import { createHash } from "node:crypto";
import { join } from "@std/path";
import { type BaseBinary, findBaseBinary } from "./base_binary.ts";
import { bundleRoles } from "./bundle.ts";
import { COMPILE_FLAGS, compileFolder, listFiles } from "./compile.ts";

/** The executable may not be larger, bytes: every process of a run maps it. */
const MAX_BYTES = 110_000_000;

/** Builds the checkout at `root` and gives the path of the executable. */
export async function buildExecutable(root: string): Promise<string> {
  const work = join(root, ".build");
  const base = await findBaseBinary(join(work, "base"));
  const folder = Deno.makeTempDirSync({ dir: work, prefix: "bundle-" });
  try {
    await layOut(root, folder, base);
    return await compileWhenStale(root, folder, base);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

/**
 * Puts all that goes into the executable into `folder`; `define` sets more free names than the build's own, `plugins`
 * change modules on their way in.
 */
export async function layOut(
  root: string,
  folder: string,
  base: BaseBinary,
  define: Readonly<Record<string, string>> = {},
  plugins: readonly Plugin[] = [],
): Promise<void> {
  const { version } = JSON.parse(Deno.readTextFileSync(join(root, "deno.json")));
  const names = { BOLL_VERSION: version, BOLL_BASE: base.kind, ...define };
  await bundleRoles({ root, outputFolder: folder, define: names, plugins });
  copyVendor(join(root, ".build", "vendor"), join(folder, "vendor"));
}

async function compileWhenStale(root: string, folder: string, base: BaseBinary): Promise<string> {
  const target = join(root, "dist", "boll");
  const stampFile = join(root, ".build", "boll.stamp");
  const inputs = listFiles(folder);
  const recipe = [Deno.version.deno, Deno.build.target, base.kind, ...COMPILE_FLAGS].join("\n");
  const stamp = digest([recipe, ...inputs.map((path) => `${path} ${digest([Deno.readFileSync(join(folder, path))])}`)]);
  if (readIfThere(stampFile) === `${stamp} ${digestOfFile(target)}`) return target;
  Deno.mkdirSync(join(root, "dist"), { recursive: true });
  const fresh = join(root, "dist", `.boll-${crypto.randomUUID()}`);
  try {
    await compileFolder(folder, base, fresh);
    checkSize(fresh);
    const made = `${stamp} ${digestOfFile(fresh)}`;
    Deno.renameSync(fresh, target);
    Deno.writeTextFileSync(stampFile, made);
  } finally {
    await Deno.remove(fresh).catch(() => {});
  }
  return target;
}

function checkSize(path: string): void {
  const { size } = Deno.statSync(path);
  if (size > MAX_BYTES) {
    throw new Error(`Check the size of dist/boll: found ${size} bytes, wanted at most ${MAX_BYTES}`);
  }
}

/** The packed tools, without the stamp of their own build. */
function copyVendor(from: string, to: string): void {
  Deno.mkdirSync(to);
  for (const path of listFiles(from).filter((path) => path.endsWith(".br"))) {
    Deno.copyFileSync(join(from, path), join(to, path));
  }
}

function digest(parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\n");
  return hash.digest("hex");
}

function digestOfFile(path: string): string {
  try {
    return digest([Deno.readFileSync(path)]);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "missing";
    throw error;
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

if (import.meta.main) {
  try {
    const path = await buildExecutable(join(import.meta.dirname!, ".."));
    console.error(`dist/boll: ${(Deno.statSync(path).size / 1e6).toFixed(1)} MB`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exitCode = 1;
  } finally {
    await stop();
  }
}
