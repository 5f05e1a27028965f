import { CapsuleError } from "../base/mod.ts";
import { checkCode } from "./glue_check.ts";
import { callPlainImportsStraight } from "./plain_imports.ts";

/** Glue beyond this is refused, characters: a few types can be made to unfold into gigabytes of it. */
export const MAX_GLUE_CHARACTERS = 16 * 1024 * 1024;

const DEBUG_LOG =
  /const _debugLog = \(\.\.\.args\) => \{\s*if \(!globalThis\?\.process\?\.env\?\.JCO_DEBUG\) \{ return; \}\s*console\.debug\(\.\.\.args\);\s*\};/g;

/** The glue as the body of a function that returns `instantiate`, and how often it instantiates each core module. */
export interface FixedGlue {
  readonly source: string;
  readonly instances: ReadonlyMap<string, number>;
}

/**
 * Makes the transpiler's ES module a function body: no `export`, no `import.meta`, no debug log that reads the
 * environment at every call, no account of tasks where none can wait. Then checks the result without trusting the
 * transpiler's escaping.
 * @throws component.build_failed
 */
export function fixGlue(text: string): FixedGlue {
  let source = text;
  const once = (what: string, pattern: RegExp, to: string) => source = replaceOnce(source, what, pattern, to);
  const onceIfUsed = (what: string, pattern: RegExp, to: string) => source.includes(what) && once(what, pattern, to);
  onceIfUsed(
    "_debugLog",
    DEBUG_LOG,
    "const _debugLog = () => {};",
  );
  onceIfUsed("import.meta", /^ *if \(!getCoreModule\) getCoreModule = [^\n]*import\.meta\.url\)\);$/gm, "");
  onceIfUsed(
    "fetchCompile",
    /^ *const fetchCompile = url => fetch\(url\)\.then\(WebAssembly\.compileStreaming\);$/gm,
    "",
  );
  // In brackets, the engine compiles it at once: named and called later, all of it would be read twice.
  once("instantiate", /^export function instantiate\(/gm, "return (function instantiate(");
  once("_util", /^export const _util = \{\s*\}\s*$/gm, "");
  once("end", /\};?\s*$/g, "});");
  source = `"use strict";\n${callPlainImportsStraight(source).source}\n`;
  checkCode(source);
  return { source, instances: countInstances(source) };
}

function replaceOnce(source: string, what: string, pattern: RegExp, to: string): string {
  const count = source.match(pattern)?.length ?? 0;
  if (count !== 1) fail(`found its ${what} ${count} times, wanted once`);
  return source.replace(pattern, () => to);
}

/** Reads `const moduleN = getCoreModule('FILE')` and `instantiateCore(yield moduleN…`; anything else is refused. */
function countInstances(source: string): Map<string, number> {
  const files = new Map<string, string>();
  for (const [, id, file] of source.matchAll(/^ *const (module\d+) = getCoreModule\('([a-z0-9_.]+)'\);$/gm)) {
    files.set(id!, file!);
  }
  const counts = new Map([...files.values()].map((file) => [file, 0]));
  let calls = 0;
  for (const [, id] of source.matchAll(/\binstantiateCore\(yield (module\d+)\b/g)) {
    const file = files.get(id!);
    if (file === undefined) fail(`found an instance of ${id}, which is not loaded`);
    counts.set(file, counts.get(file)! + 1);
    calls++;
  }
  const mentions = source.match(/\binstantiateCore\(/g)?.length ?? 0;
  const loads = source.match(/\bgetCoreModule\(/g)?.length ?? 0;
  if (mentions !== calls || loads !== files.size) fail("found core modules loaded or linked in an unknown way");
  return counts;
}

function fail(found: string): never {
  throw new CapsuleError("component.build_failed", `Check glue: ${found}; the component cannot be run safely`);
}
