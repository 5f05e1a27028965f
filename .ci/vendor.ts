/**
 * Makes `.build/vendor/`: jco's transpiler and wasm-tools as packed scripts and core modules, and the preview1
 * adapters. Run with `deno run -A .ci/vendor.ts`; does nothing when the folder is current. Safe to run twice at once.
 */
import { build, type Plugin } from "esbuild";
import { createHash } from "node:crypto";
import { brotliCompressSync, constants } from "node:zlib";
import { dirname, fromFileUrl, join, relative } from "@std/path";
import { ADAPTERS } from "./adapters.ts";
import { sourcesOf } from "./bundle.ts";
import { readPackageFiles } from "./npm_package.ts";

const ROOT = join(import.meta.dirname!, "..");
const VENDOR = join(ROOT, ".build", "vendor");
const JCO = dirname(fromFileUrl(import.meta.resolve("@bytecodealliance/jco/component")));
const INERT = join(ROOT, "src/component/inert_wasi.ts");

/** Name in `.build/vendor/` → jco's file. */
const TOOLS = { transpiler: "js-component-bindgen-component", wasm_tools: "wasm-tools" } as const;

const hex = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

function fail(message: string): never {
  throw new Error(message);
}

/** Replaces a pattern that must stand in the text exactly once: another jco release must not slip through. */
function replaceOnce(text: string, pattern: RegExp, to: string): string {
  const count = text.match(new RegExp(pattern, "g"))?.length ?? 0;
  if (count !== 1) fail(`Fix jco's file: found ${pattern} ${count} times, wanted 1; the pinned version changed`);
  return text.replace(pattern, () => to);
}

/** Points `preview2-shim` at the inert stub, and a tool's core modules at the free variable `compileAsset`. */
function jcoPlugin(): Plugin {
  return {
    name: "jco",
    setup(setup) {
      setup.onResolve({ filter: /^@bytecodealliance\/preview2-shim\// }, () => ({ path: INERT }));
      setup.onLoad({ filter: /\/vendor\/[a-z-]+\.js$/ }, async ({ path }) => {
        let contents = await Deno.readTextFile(path);
        contents = replaceOnce(
          contents,
          /const _debugLog = \(\.\.\.args\) => \{[^}]*\}[^}]*\};/,
          "const _debugLog = () => {};",
        );
        contents = replaceOnce(contents, /await import\('node:fs\/promises'\)/, "undefined");
        contents = contents.replaceAll(
          /fetchCompile\(new URL\('\.\/([a-z0-9.-]+)\.wasm', import\.meta\.url\)\)/g,
          (_, name) => `compileAsset("${assetName(name)}")`,
        );
        return { contents, loader: "js" };
      });
    },
  };
}

function assetName(jcoName: string): string {
  const [tool, core] = jcoName.split(".core");
  const name = Object.entries(TOOLS).find(([, file]) => file === tool)?.[0];
  if (name === undefined) {
    fail(`Name a core module: found ${jcoName}, wanted one of ${Object.values(TOOLS).join(", ")}`);
  }
  return `${name}_core${core || "1"}`;
}

/** A file of the folder, and the files it was made from: paths in the checkout, or `npm:PACKAGE/PATH`. */
interface Made {
  readonly bytes: Uint8Array;
  readonly sources: readonly string[];
}

async function bundleTool(name: keyof typeof TOOLS): Promise<Made> {
  const result = await build({
    absWorkingDir: ROOT,
    entryPoints: [join(JCO, `${TOOLS[name]}.js`)],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "iife",
    globalName: "tool",
    target: "esnext",
    logLevel: "silent",
    plugins: [jcoPlugin()],
  });
  const text = result.outputFiles[0]!.text;
  if (/\bimport\s*[.(]/.test(text)) fail(`Bundle ${name}: found an import left over, wanted none`);
  return { bytes: new TextEncoder().encode(text), sources: sourcesOf(Object.values(result.metafile.outputs)[0]!) };
}

async function fetchAdapters(): Promise<Record<string, Made>> {
  const kinds = Object.keys(ADAPTERS.files) as (keyof typeof ADAPTERS.files)[];
  const paths = kinds.map((kind) => `lib/wasi_snapshot_preview1.${kind}.wasm`);
  const found = await readPackageFiles(ADAPTERS.package, paths.map((path) => `package/${path}`));
  const files: Record<string, Made> = {};
  for (const [index, kind] of kinds.entries()) {
    const bytes = found[index]!;
    const wanted = ADAPTERS.files[kind];
    if (hex(bytes) !== wanted) fail(`Check the ${kind} adapter: found sha256 ${hex(bytes)}, wanted ${wanted}`);
    files[`adapter_${kind}.bin.br`] = {
      bytes: kind === "command" ? await giveExitCode(bytes) : bytes,
      sources: [`npm:${ADAPTERS.package.spec}/${paths[index]}`],
    };
  }
  return files;
}

/** A preview1 program's exit code is its own: the adapter would make 1 of every other than 0. */
async function giveExitCode(adapter: Uint8Array): Promise<Uint8Array> {
  const { tools } = await openWasmTools();
  let text = tools.print(adapter);
  text = replaceOnce(text, /(?<="wasi:cli\/exit@0\.2\.\d+" )"exit"/, '"exit-with-code"');
  text = replaceOnce(
    text,
    /(?<=local\.get 0\s+)i32\.const 0\s+i32\.ne(?=\s+call \$\S+4exit4exit\s)/,
    "i32.const 255 i32.and",
  );
  return tools.parse(text);
}

/** The bundled wasm-tools, as the executable opens it. */
async function openWasmTools(): Promise<
  { tools: { print(binary: Uint8Array): string; parse(text: string): Uint8Array } }
> {
  const source = new TextDecoder().decode((await bundleTool("wasm_tools")).bytes);
  const compile = (asset: string) =>
    new WebAssembly.Module(
      Deno.readFileSync(join(JCO, `${TOOLS.wasm_tools}.core${asset.endsWith("1") ? "" : "2"}.wasm`)),
    );
  const tool = new Function("compileAsset", `${source}\nreturn tool;`)(compile);
  await tool.$init;
  return tool;
}

/** What the folder is made from; a stamp that differs means it is made anew. */
function makeStamp(): string {
  const inputs = [import.meta.filename!, join(import.meta.dirname!, "adapters.ts"), INERT];
  for (const file of Object.values(TOOLS)) {
    inputs.push(...[".js", ".core.wasm", ".core2.wasm"].map((end) => join(JCO, file + end)));
  }
  return hex(new TextEncoder().encode(inputs.map((input) => hex(Deno.readFileSync(input))).join()));
}

/** Whether the folder was made from `stamp` and still holds each file whole. */
function isCurrent(stamp: string): boolean {
  try {
    const made = JSON.parse(Deno.readTextFileSync(join(VENDOR, "stamp.json")));
    const files = Object.entries(made.files as Record<string, string>);
    return made.stamp === stamp && files.every(([name, sum]) => hex(Deno.readFileSync(join(VENDOR, name))) === sum);
  } catch {
    return false;
  }
}

function fileOfJco(name: string): Made {
  const path = Deno.realPathSync(join(JCO, name));
  return { bytes: Deno.readFileSync(path), sources: [relative(Deno.realPathSync(ROOT), path)] };
}

async function collect(): Promise<Record<string, Made>> {
  const files = await fetchAdapters();
  for (const tool of Object.keys(TOOLS) as (keyof typeof TOOLS)[]) {
    files[`${tool}.js.br`] = await bundleTool(tool);
    files[`${tool}_core1.bin.br`] = fileOfJco(`${TOOLS[tool]}.core.wasm`);
    files[`${tool}_core2.bin.br`] = fileOfJco(`${TOOLS[tool]}.core2.wasm`);
  }
  return files;
}

/** As small as it gets: every process of the executable reads all of it at its start, and only a build unpacks it. */
function pack(bytes: Uint8Array): Uint8Array {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return brotliCompressSync(bytes, { params });
}

/** Builds beside the target and renames: a reader sees the old folder or the new, another builder may win. */
async function makeVendor(stamp: string): Promise<void> {
  const files = await collect();
  Deno.mkdirSync(dirname(VENDOR), { recursive: true });
  const fresh = Deno.makeTempDirSync({ dir: dirname(VENDOR), prefix: "vendor-" });
  const sums: Record<string, string> = {};
  const sources = Object.fromEntries(Object.entries(files).map(([name, made]) => [name, made.sources]));
  for (const [name, { bytes }] of Object.entries(files)) {
    const packed = pack(bytes);
    sums[name] = hex(packed);
    Deno.writeFileSync(`${fresh}/${name}`, packed);
  }
  Deno.chmodSync(fresh, 0o755);
  Deno.writeTextFileSync(`${fresh}/stamp.json`, JSON.stringify({ stamp, files: sums, sources }));
  const stale = `${fresh}.stale`;
  for (let turn = 0; turn < 10 && !isCurrent(stamp); turn++) {
    try {
      Deno.renameSync(VENDOR, stale);
      Deno.removeSync(stale, { recursive: true });
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    try {
      Deno.renameSync(fresh, VENDOR);
    } catch { /* another builder put its own there first; the loop looks whether it is current */ }
  }
  try {
    Deno.removeSync(fresh, { recursive: true });
  } catch { /* it became the vendor folder */ }
}

async function main(): Promise<void> {
  const stamp = makeStamp();
  if (isCurrent(stamp)) return;
  await makeVendor(stamp);
  if (!isCurrent(stamp)) fail(`Make ${VENDOR}: it is not what was written; remove it and run again`);
}

try {
  await main();
} catch (error) {
  console.error(`vendor: ${error instanceof Error ? error.message : error}`);
  Deno.exit(1);
}
