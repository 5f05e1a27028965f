import { CapsuleError, printableLine } from "../base/mod.ts";
import { ASYNC_EXPORTS, asyncImportsOf } from "./async_list.ts";
import { type OuterNames, readComponentNames } from "./component_names.ts";
import { readCoreModule } from "./core_module.ts";
import type { BuildOptions, BuildResult, CoreFile, MemoryPages } from "./description.ts";
import { fixGlue, MAX_GLUE_CHARACTERS } from "./glue.ts";
import { makeGlueCode } from "./glue_code.ts";
import { separateGoHeap } from "./go_memory.ts";
import { hashBytes } from "./hash.ts";
import { type CappedLimits, type CountedModule, shareMemory, shareTables, writeCaps } from "./memory_cap.ts";
import { NameCheck } from "./name_grammar.ts";
import { openTranspiler, openWasmTools, readAdapter, type WasmTools } from "./vendor.ts";

/** The largest component or module that is read, bytes. */
export const MAX_COMPONENT_BYTES = 128 * 1024 * 1024;
/** The most imports, and the most exports, of a component. */
export const MAX_OUTER_NAMES = 1000;
/** The most core modules of a component. */
const MAX_CORE_MODULES = 500;
/** The longest WIT text that is kept, characters. */
const MAX_WIT_CHARACTERS = 64 * 1024;
const PREVIEW1 = "wasi_snapshot_preview1";
/** For modules that the transpiler gave out: it adds helpers of its own, and the component's names were checked before. */
const SEEN_BEFORE = { core: (name: string) => name };
const CUT = "\n// (cut)\n";

/**
 * Describes, checks, caps and transpiles a component (or adapts a preview1 module first), and writes the glue and the
 * core modules as new files into `stagingDir`. Hostile bytes may make it slow, or end this process at its memory
 * limit: it is for the build cell alone. Bytes of another digest than the one asked for are refused before any is parsed.
 * @throws component.not_wasm | component.core_module | component.invalid | component.unsupported |
 * component.too_large | component.memory_exceeds_cap | component.build_failed
 */
export async function buildComponent(
  bytes: Uint8Array,
  stagingDir: string,
  options: BuildOptions & { readonly digest?: string },
): Promise<BuildResult> {
  const digest = `sha256:${hashBytes(bytes)}`;
  if (options.digest !== undefined && options.digest !== digest) {
    throw new CapsuleError(
      "component.build_failed",
      `Read component: it changed while it was read: found ${digest}, wanted ${options.digest}; try again`,
    );
  }
  const tools = await openWasmTools();
  const isModule = detectLayer(bytes) === "module";
  const component = isModule ? adaptModule(bytes, tools) : bytes;
  const outer = checkOuterNames(readComponentNames(component, new NameCheck()));
  const wit = describeWit(component, tools);
  const files = await transpile(component, outer.imports);
  const { source, instances } = fixGlue(takeGlue(files));
  const counted = readModules(files, instances);
  const memories = shareMemory(counted.map(([, module]) => module), options.memoryMb);
  const tables = shareTables(counted.map(([, module]) => module));
  const modules = counted.map(([name, module], index) =>
    writeFile(stagingDir, name, writeCaps(module, { memories: memories[index]!, tables: tables[index]! }))
  );
  const glue = writeFile(stagingDir, "glue.js", new TextEncoder().encode(source));
  const code = writeFile(stagingDir, "glue.code", makeGlueCode(source));
  const kind = isModule ? "adapted" : "component";
  const names = counted.map(([name]) => name);
  return { digest, description: { kind, ...outer, wit, memories: listMemories(names, memories) }, glue, code, modules };
}

function detectLayer(bytes: Uint8Array): "module" | "component" {
  if (bytes.length > MAX_COMPONENT_BYTES) {
    throw new CapsuleError(
      "component.too_large",
      `Read component: found ${bytes.length} bytes, wanted at most ${MAX_COMPONENT_BYTES}`,
    );
  }
  const head = [...bytes.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  if (!head.startsWith("00 61 73 6d ")) {
    throw new CapsuleError(
      "component.not_wasm",
      `Read component: found no WebAssembly (first bytes: ${head || "none"}), wanted a component; name the .wasm file`,
    );
  }
  if (head.endsWith(" 01 00 00 00")) return "module";
  if (head.endsWith(" 0d 00 01 00")) return "component";
  throw new CapsuleError(
    "component.unsupported",
    `Read component: found WebAssembly of version ${head.slice(12) || "none"}, wanted a component (0d 00 01 00); ` +
      "build it with current tools",
  );
}

/** Makes a component out of a preview1 command with the adapter; any other core module is refused with what to do. */
function adaptModule(bytes: Uint8Array, tools: WasmTools): Uint8Array {
  const module = readCoreModule(bytes, 0, new NameCheck());
  if (!WebAssembly.validate(bytes as BufferSource)) {
    throw new CapsuleError("component.invalid", "Read module: found a core module that does not validate");
  }
  const strange = module.imports.find((entry) => entry.module !== PREVIEW1);
  const missing = ["_start", "memory"].find((name) => !module.exports.includes(name));
  const found = strange !== undefined
    ? `one that imports "${printableLine(strange.module, 80)}"`
    : missing && `one that exports no ${missing}`;
  if (found !== undefined) {
    throw new CapsuleError(
      "component.core_module",
      `Read component: found a core module, ${found}, wanted a component or a ${PREVIEW1} command; ` +
        'make it a component with "wasm-tools component new" or build it for wasm32-wasip2',
    );
  }
  const apart = separateGoHeap(bytes, module);
  return callTool(
    "adapt the module",
    "component.core_module",
    () => tools.componentNew(apart, [[PREVIEW1, readAdapter("command")]]),
  );
}

/** Refuses what generated code or linking could mistake. */
function checkOuterNames(names: OuterNames): OuterNames {
  if (Math.max(names.imports.length, names.exports.length) > MAX_OUTER_NAMES) {
    throw new CapsuleError(
      "component.too_large",
      `Read component: found ${names.imports.length} imports and ${names.exports.length} exports, ` +
        `wanted at most ${MAX_OUTER_NAMES} of each`,
    );
  }
  const other = names.imports.find((name) => name.startsWith("wasi:") && !/@0\.2\.\d+$/.test(name));
  if (other !== undefined) {
    throw new CapsuleError("component.unsupported", `Read component: found import ${other}, wanted WASI 0.2.x`);
  }
  // An exports object with `then` would be taken for a promise, and the guest's function called with host functions.
  if (names.exports.includes("then")) {
    throw new CapsuleError(
      "component.unsupported",
      'Read component: found an export named "then", which cannot be linked',
    );
  }
  return names;
}

function describeWit(component: Uint8Array, tools: WasmTools): string {
  const wit = callTool("describe the component", "component.invalid", () => tools.componentWit(component));
  return wit.length <= MAX_WIT_CHARACTERS ? wit : wit.slice(0, MAX_WIT_CHARACTERS - CUT.length) + CUT;
}

async function transpile(component: Uint8Array, imports: readonly string[]): Promise<Map<string, Uint8Array>> {
  const transpiler = await openTranspiler();
  const result = callTool("transpile the component", "component.unsupported", () =>
    transpiler.generate(component, {
      name: "c",
      map: [],
      instantiation: { tag: "async" },
      noNodejsCompat: true,
      noTypescript: true,
      base64Cutoff: 0,
      tlaCompat: false,
      validLiftingOptimization: false,
      tracing: false,
      noNamespacedExports: false,
      multiMemory: true,
      strict: false,
      asyncMode: { tag: "jspi", val: { imports: asyncImportsOf(imports), exports: ASYNC_EXPORTS } },
    }));
  return new Map(result.files);
}

/** A tool's refusal and a tool's trap alike become an error with a code; their text is foreign. */
function callTool<T>(
  what: string,
  code: "component.invalid" | "component.core_module" | "component.unsupported",
  call: () => T,
): T {
  try {
    return call();
  } catch (error) {
    const payload = error instanceof Error && "payload" in error ? error.payload : undefined;
    const reason = typeof payload === "string" ? payload : error instanceof Error ? error.message : String(error);
    throw new CapsuleError(code, `Read component: cannot ${what}: ${printableLine(reason, 300)}`, { cause: error });
  }
}

function takeGlue(files: Map<string, Uint8Array>): string {
  const glue = files.get("c.js");
  if (glue === undefined) {
    throw new CapsuleError("component.build_failed", "Transpile component: found no glue, wanted c.js");
  }
  if (glue.length > MAX_GLUE_CHARACTERS) {
    throw new CapsuleError(
      "component.too_large",
      `Transpile component: found ${glue.length} bytes of glue, wanted at most ${MAX_GLUE_CHARACTERS}; simplify its types`,
    );
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(glue);
}

/** The core modules, each validated by the engine before anything in it is changed. */
function readModules(
  files: Map<string, Uint8Array>,
  instances: ReadonlyMap<string, number>,
): [string, CountedModule][] {
  if (instances.size > MAX_CORE_MODULES) {
    throw new CapsuleError(
      "component.too_large",
      `Read component: found ${instances.size} core modules, wanted at most ${MAX_CORE_MODULES}`,
    );
  }
  return [...instances].map(([name, count]) => {
    const bytes = files.get(name);
    if (bytes === undefined || !/^[a-z0-9_.]+\.wasm$/.test(name)) {
      throw new CapsuleError("component.build_failed", `Transpile component: core module ${name} is missing`);
    }
    if (!WebAssembly.validate(bytes as BufferSource)) {
      throw new CapsuleError(
        "component.invalid",
        `Check core module: ${name} does not validate; rebuild the component`,
      );
    }
    return [name, { bytes, module: readCoreModule(bytes, 0, SEEN_BEFORE), instances: count }];
  });
}

function writeFile(stagingDir: string, name: string, bytes: Uint8Array): CoreFile {
  Deno.writeFileSync(`${stagingDir}/${name}`, bytes, { createNew: true });
  return { name, sha256: hashBytes(bytes), bytes: bytes.length };
}

function listMemories(names: readonly string[], capped: readonly CappedLimits[][]): MemoryPages[] {
  return capped.flatMap((limits, index) =>
    limits.map(({ min, cap, pageBytes }) => ({
      module: names[index]!,
      page_bytes: pageBytes,
      min_pages: min,
      max_pages: cap,
    }))
  );
}
