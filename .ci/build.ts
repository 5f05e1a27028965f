/**
 * Makes `dist/boll`: bundles per role, the vendored tools beside them, compiled into one executable by `deno compile`.
 * The same source gives the same bytes. An executable that is up to date is left alone. Safe to run twice at once.
 * @module
 */
import { stop } from "esbuild";
import { createHash } from "node:crypto";
import { join } from "@std/path";
import { type BaseBinary, findBaseBinary } from "./base_binary.ts";
import { bundleRoles } from "./bundle.ts";

/** The executable may not be larger, bytes: every process of a run maps it. */
const MAX_BYTES = 110_000_000;

/**
 * Exactly what the executable may ever do; no argument or variable widens it. `import` is denied: it would be code
 * from elsewhere. `--quiet` is baked too: the runtime's own notices do not mix with a guest's stderr.
 */
const COMPILE_FLAGS: readonly string[] = [
  ...["--quiet", "--no-config", "--no-lock", "--no-npm", "--no-remote", "--no-check", "--no-code-cache", "--no-prompt"],
  "--unstable-worker-options",
  ...["--allow-read", "--allow-write", "--allow-env", "--allow-run", "--allow-ffi", "--allow-net", "--allow-sys"],
  "--deny-import",
];

/** Builds the checkout at `root` and gives the path of the executable. */
export async function buildExecutable(root: string): Promise<string> {
  const work = join(root, ".build");
  const base = await findBaseBinary(join(work, "base"));
  const { version } = JSON.parse(Deno.readTextFileSync(join(root, "deno.json")));
  Deno.mkdirSync(work, { recursive: true });
  const folder = Deno.makeTempDirSync({ dir: work, prefix: "bundle-" });
  try {
    await bundleRoles({ root, outputFolder: folder, define: { BOLL_VERSION: version, BOLL_BASE: base.kind } });
    copyVendor(join(work, "vendor"), join(folder, "vendor"));
    return await compileWhenStale(root, folder, base);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
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
    await compile(folder, inputs, base, fresh);
    checkSize(fresh);
    const made = `${stamp} ${digestOfFile(fresh)}`;
    Deno.renameSync(fresh, target);
    Deno.writeTextFileSync(stampFile, made);
  } finally {
    await Deno.remove(fresh).catch(() => {});
  }
  return target;
}

async function compile(folder: string, inputs: readonly string[], base: BaseBinary, output: string): Promise<void> {
  // The executable records when each embedded file was last changed.
  for (const path of inputs) Deno.utimeSync(join(folder, path), 0, 0);
  const env = Deno.env.toObject();
  delete env.DENORT_BIN;
  if (base.kind === "unofficial") env.DENORT_BIN = base.path;
  const includes = inputs.filter((path) => path !== "main.js").flatMap((path) => ["--include", path]);
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["compile", ...COMPILE_FLAGS, ...includes, "--output", output, "main.js"],
    cwd: folder,
    clearEnv: true,
    env,
    stdin: "null",
  }).output();
  if (!success) throw new Error(`deno compile failed:\n${new TextDecoder().decode(stderr)}`);
}

function checkSize(path: string): void {
  const { size } = Deno.statSync(path);
  if (size > MAX_BYTES) {
    throw new Error(`Check the size of dist/boll: found ${size} bytes, wanted at most ${MAX_BYTES}`);
  }
}

/** Paths of all files below `folder`, sorted. */
function listFiles(folder: string, below = ""): string[] {
  return [...Deno.readDirSync(join(folder, below))].flatMap((entry) =>
    entry.isDirectory ? listFiles(folder, join(below, entry.name)) : [join(below, entry.name)]
  ).sort();
}

/** The gzipped tools, without the stamp of their own build. */
function copyVendor(from: string, to: string): void {
  Deno.mkdirSync(to);
  for (const path of listFiles(from).filter((path) => path.endsWith(".gz"))) {
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
