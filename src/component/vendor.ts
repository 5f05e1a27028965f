import { brotliDecompressSync } from "node:zlib";
import { CapsuleError } from "../base/mod.ts";
import { readCoreModule } from "./core_module.ts";
import { shareMemory, shareTables, writeCaps } from "./memory_cap.ts";

/** What a tool may use for one component, MiB: beyond it the tool traps, which is an error and not a dead process. */
const TOOL_MEMORY_MB = 512;

/** What the executable's loader gives every script (`.ci/script_loader.ts`). */
declare const BOLL_BUNDLE: { readFile(path: string): Uint8Array<ArrayBuffer> };

/** Where the packed tools lie in a checkout (`.ci/vendor.ts` makes them). */
const VENDOR_URL = new URL("../../.build/vendor/", import.meta.url);

const compiled = new Map<string, WebAssembly.Module>();
const sources = new Map<string, string>();

/** What `GenerateOptions` of the transpiler this project sets. */
export interface GenerateOptions {
  readonly name: string;
  readonly map: readonly (readonly [string, string])[];
  readonly instantiation: { readonly tag: "async" };
  readonly noNodejsCompat: boolean;
  readonly noTypescript: boolean;
  readonly base64Cutoff: number;
  readonly tlaCompat: boolean;
  readonly validLiftingOptimization: boolean;
  readonly tracing: boolean;
  readonly noNamespacedExports: boolean;
  readonly multiMemory: boolean;
  readonly strict: boolean;
  readonly asyncMode: {
    readonly tag: "jspi";
    readonly val: { readonly imports: readonly string[]; readonly exports: readonly string[] };
  };
}

/** jco's transpiler: a component in, JavaScript and core modules out. */
export interface Transpiler {
  generate(component: Uint8Array, options: GenerateOptions): {
    readonly files: readonly (readonly [string, Uint8Array])[];
    readonly imports: readonly string[];
    readonly exports: readonly (readonly [string, "function" | "instance"])[];
  };
}

/** The part of wasm-tools that is used: text to binary, WIT of a component, a component out of a preview1 module. */
export interface WasmTools {
  parse(wat: string): Uint8Array;
  print(binary: Uint8Array): string;
  componentNew(binary: Uint8Array, adapters: readonly (readonly [string, Uint8Array])[]): Uint8Array;
  componentWit(binary: Uint8Array): string;
}

/** A fresh transpiler: one that trapped on hostile bytes is thrown away with its memory. @throws component.build_failed */
export async function openTranspiler(): Promise<Transpiler> {
  return await openTool("transpiler") as Transpiler;
}

/** A fresh wasm-tools, as {@link openTranspiler}. @throws component.build_failed */
export async function openWasmTools(): Promise<WasmTools> {
  return (await openTool("wasm_tools") as { tools: WasmTools }).tools;
}

/** The preview1 adapter for a command (has `_start`) or a reactor. @throws component.build_failed */
export function readAdapter(kind: "command" | "reactor"): Uint8Array {
  return readAsset(`adapter_${kind}.bin.br`);
}

/** The tool scripts are data, evaluated as functions: an `import()` would need a module embedded in the executable. */
async function openTool(name: string): Promise<unknown> {
  const source = sources.get(name) ?? new TextDecoder().decode(readAsset(`${name}.js.br`));
  sources.set(name, source);
  const tool = new Function("compileAsset", `${source}\nreturn tool;`)(compileAsset);
  await tool.$init;
  return tool;
}

function compileAsset(name: string): WebAssembly.Module {
  const module = compiled.get(name) ?? new WebAssembly.Module(capTool(readAsset(`${name}.bin.br`)) as BufferSource);
  compiled.set(name, module);
  return module;
}

function capTool(bytes: Uint8Array): Uint8Array {
  const tool = { bytes, module: readCoreModule(bytes, 0, { core: (name) => name }), instances: 1 };
  return writeCaps(tool, { memories: shareMemory([tool], TOOL_MEMORY_MB)[0]!, tables: shareTables([tool])[0]! });
}

function readAsset(name: string): Uint8Array {
  try {
    const packed = Deno.build.standalone
      ? BOLL_BUNDLE.readFile(`vendor/${name}`)
      : Deno.readFileSync(new URL(name, VENDOR_URL));
    return new Uint8Array(brotliDecompressSync(packed));
  } catch (error) {
    throw new CapsuleError(
      "component.build_failed",
      `Read the transpiler: ${name} is missing or torn; in a checkout, run "deno task vendor"`,
      { cause: error },
    );
  }
}
