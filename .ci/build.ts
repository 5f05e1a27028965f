/**
 * Makes `dist/boll`: bundles per role, the vendored tools beside them, compiled into one executable by `deno compile`;
 * and beside it what is inside, `boll.cdx.json`, and whose work that is, `THIRD_PARTY_NOTICES.txt`.
 * The same source gives the same bytes. An executable that is up to date is left alone. Safe to run twice at once.
 * @module
 */
import { type Plugin, stop } from "esbuild";
import { createHash } from "node:crypto";
import { join } from "@std/path";
import { cutBelowAttic } from "./attic.ts";
import { type BaseBinary, findBaseBinary } from "./base_binary.ts";
import { bomText } from "./bom.ts";
import { bundleRoles, type Sources } from "./bundle.ts";
import { addCodeCaches } from "./code_cache.ts";
import { COMPILE_FLAGS, compileFolder, listFiles } from "./compile.ts";
import { embeddedPackages } from "./embedded_packages.ts";
import { type Licensed, noticesText } from "./notices.ts";
import { packRoles } from "./pack.ts";
import { makeWarmUps } from "./warm_up.ts";

/** The executable may not be larger, bytes: every process of a run maps it. */
const MAX_BYTES = 110_000_000;

/** What the code beside the scripts depends on, and the scripts do not. */
const CODE_MAKERS = ["code_cache.ts", "script_loader.ts", "warm_up.ts"] as const;

/** An executable that was built. */
export interface Built {
  readonly path: string;
  /** SHA-256 of the executable, hex. */
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
}

/** Builds the checkout at `root`. */
export async function buildExecutable(root: string): Promise<Built> {
  const work = join(root, ".build");
  const base = await findBaseBinary(join(work, "base"));
  const folder = Deno.makeTempDirSync({ dir: work, prefix: "bundle-" });
  try {
    const packages = embeddedPackages(root, await layOut(root, folder, base));
    // Before the executable: a licence that is not allowed leaves none.
    const notices = noticesText([...runtimeWorks(), ...packages]);
    const { path, files } = await compileWhenStale(root, folder, base);
    const executable = Deno.readFileSync(path);
    const sha256 = digest(executable);
    const bom = bomText({
      version: readVersion(root),
      target: Deno.build.target,
      sha256,
      base: { ...Deno.version, kind: base.kind, sha256: digest(cutBelowAttic(executable)), ...originOf(base) },
      files,
      packages,
    });
    writeWhole(join(root, "dist", "boll.cdx.json"), bom);
    writeWhole(join(root, "dist", "THIRD_PARTY_NOTICES.txt"), notices);
    return { path, sha256, size: executable.length };
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

/**
 * Puts all that goes into the executable into `folder`, and gives what each file was made from; `define` sets more free
 * names than the build's own, `plugins` change modules on their way in.
 */
export async function layOut(
  root: string,
  folder: string,
  base: BaseBinary,
  define: Readonly<Record<string, string>> = {},
  plugins: readonly Plugin[] = [],
): Promise<Sources> {
  const names = { BOLL_VERSION: readVersion(root), BOLL_BASE: base.kind, REPORTS_CODE: "", ...define };
  const bundles = await bundleRoles({ root, outputFolder: folder, define: names, plugins });
  const packs = await packRoles(folder, bundles, names);
  return { ...packs, ...copyVendor(join(root, ".build", "vendor"), join(folder, "vendor")) };
}

/** What was compiled before, and from what. */
interface Stamp {
  /** Of all that it depends on. */
  readonly recipe: string;
  /** Of the executable. */
  readonly made: string;
  /** Path → SHA-256 of each file in it. */
  readonly files: Readonly<Record<string, string>>;
}

async function compileWhenStale(
  root: string,
  folder: string,
  base: BaseBinary,
): Promise<{ path: string; files: Stamp["files"] }> {
  const path = join(root, "dist", "boll");
  const stampFile = join(root, ".build", "boll.stamp");
  // Before there is code beside the scripts: that follows from the rest, and from how it is made.
  const makers = CODE_MAKERS.map((name) => digestOfFile(join(import.meta.dirname!, name)));
  const inputs = [Deno.version.deno, Deno.build.target, base.kind, ...COMPILE_FLAGS, ...makers];
  const recipe = digest(JSON.stringify([inputs, digestsOf(folder)]));
  const stamp = readStamp(stampFile);
  if (stamp?.recipe === recipe && stamp.made === digestOfFile(path)) return { path, files: stamp.files };
  Deno.mkdirSync(join(root, "dist"), { recursive: true });
  const fresh = join(root, "dist", `.boll-${crypto.randomUUID()}`);
  try {
    await makeFast(root, folder, base);
    const files = digestsOf(folder);
    await compileFolder(folder, base, fresh);
    checkSize(fresh);
    const made = digestOfFile(fresh);
    Deno.renameSync(fresh, path);
    Deno.writeTextFileSync(stampFile, JSON.stringify({ recipe, made, files } satisfies Stamp));
    return { path, files };
  } finally {
    await Deno.remove(fresh).catch(() => {});
  }
}

/** One that an older build wrote is none. */
function readStamp(path: string): Stamp | undefined {
  try {
    return JSON.parse(readIfThere(path) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

/** Puts what the engine makes of the scripts beside them; `define` as they were laid out with. */
export async function makeFast(
  root: string,
  folder: string,
  base: BaseBinary,
  define: Readonly<Record<string, string>> = {},
): Promise<void> {
  const scratch = Deno.makeTempDirSync({ prefix: "boll-warm-" });
  try {
    const reporting = join(scratch, "scripts");
    Deno.mkdirSync(reporting);
    await layOut(root, reporting, base, { ...define, REPORTS_CODE: "yes" });
    await using warmUps = await makeWarmUps(scratch);
    await addCodeCaches({ folder, reporting, scratch, warmUps: warmUps.all, base });
  } finally {
    Deno.removeSync(scratch, { recursive: true });
  }
}

function checkSize(path: string): void {
  const { size } = Deno.statSync(path);
  if (size > MAX_BYTES) {
    throw new Error(`Check the size of dist/boll: found ${size} bytes, wanted at most ${MAX_BYTES}`);
  }
}

/** The packed tools, without the stamp of their own build, which knows what they were made from. */
function copyVendor(from: string, to: string): Sources {
  const { sources }: { sources: Sources } = JSON.parse(Deno.readTextFileSync(join(from, "stamp.json")));
  Deno.mkdirSync(to);
  for (const path of Object.keys(sources)) Deno.copyFileSync(join(from, path), join(to, path));
  return Object.fromEntries(Object.entries(sources).map(([path, paths]) => [`vendor/${path}`, paths]));
}

function originOf(base: BaseBinary): { origin?: string } {
  return base.kind === "unofficial" ? { origin: base.origin } : {};
}

/** The runtime and its engine, which no package brings. */
function runtimeWorks(): Licensed[] {
  const { deno, v8 } = Deno.version;
  return [
    { name: "denort", version: deno, licence: "MIT" },
    { name: "v8", version: v8, licence: "BSD-3-Clause" },
  ];
}

function readVersion(root: string): string {
  return JSON.parse(Deno.readTextFileSync(join(root, "deno.json"))).version;
}

/** Path → SHA-256 of each file below `folder`. */
function digestsOf(folder: string): Record<string, string> {
  return Object.fromEntries(listFiles(folder).map((path) => [path, digest(Deno.readFileSync(join(folder, path)))]));
}

function digest(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

function digestOfFile(path: string): string {
  try {
    return digest(Deno.readFileSync(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "missing";
    throw error;
  }
}

/** A reader sees the old text or the new. */
function writeWhole(path: string, text: string): void {
  const fresh = `${path}.${crypto.randomUUID()}`;
  Deno.writeTextFileSync(fresh, text);
  Deno.renameSync(fresh, path);
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
    const { size, sha256 } = await buildExecutable(join(import.meta.dirname!, ".."));
    console.error(`dist/boll: ${(size / 1e6).toFixed(1)} MB, sha256 ${sha256}`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exitCode = 1;
  } finally {
    await stop();
  }
}
