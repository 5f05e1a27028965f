import { CapsuleError } from "../base/mod.ts";

/** Glue beyond this is refused, characters. */
const MAX_GLUE_CHARACTERS = 64 * 1024 * 1024;

/** Identifiers that the transpiler never writes; one outside a literal means that a name became code. */
const FOREIGN = new Set(
  ["import", "export", "eval", "Function", "Deno", "process", "require", "fetch", "Worker", "importScripts", "self"],
);

/** The glue as the body of a function that returns `instantiate`, and how often it instantiates each core module. */
export interface FixedGlue {
  readonly source: string;
  readonly instances: ReadonlyMap<string, number>;
}

/**
 * Makes the transpiler's ES module a function body: no `export`, no `import.meta`, no debug log that reads the
 * environment at every call. Then checks the result without trusting the transpiler's escaping.
 * @throws component.build_failed | component.too_large
 */
export function fixGlue(text: string): FixedGlue {
  if (text.length > MAX_GLUE_CHARACTERS) {
    throw new CapsuleError("component.too_large", `Fix glue: found ${text.length} characters, wanted at most 64 Mi`);
  }
  let source = text;
  const once = (what: string, pattern: RegExp, to: string) => source = replaceOnce(source, what, pattern, to);
  once(
    "debug log",
    /const _debugLog = \(\.\.\.args\) => \{[^{}]*\{ return; \}[^{}]*\};/g,
    "const _debugLog = () => {};",
  );
  once("default loader", /^if \(!getCoreModule\) getCoreModule = [^\n]*import\.meta\.url\)\);$/gm, "");
  once("fetch", /^const fetchCompile = url => fetch\(url\)\.then\(WebAssembly\.compileStreaming\);$/gm, "");
  once("instantiate", /^export function instantiate\(/gm, "function instantiate(");
  once("_util", /^export const _util = \{\s*\}\s*$/gm, "");
  source = `"use strict";\n${source}\nreturn instantiate;`;
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
  for (const [, id, file] of source.matchAll(/^const (module\d+) = getCoreModule\('([a-z0-9_.]+)'\);$/gm)) {
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

/** Scans the code outside literals, then lets the engine parse it as one function body (parse only: nothing runs). */
function checkCode(source: string): void {
  for (const word of codeWords(source)) {
    if (FOREIGN.has(word)) fail(`found "${word}" in its code`);
  }
  try {
    new Function(source);
  } catch (error) {
    throw new CapsuleError("component.build_failed", "Check glue: it does not parse", { cause: error });
  }
}

const WORD = /[A-Za-z0-9_$#]+/y;
const PLAIN_STRING = /'(?:[^'\\\n\r]|\\[^\n\r])*'|"(?:[^"\\\n\r]|\\[^\n\r])*"/y;
const COMMENT = /\/\/[^\n]*|\/\*[^]*?\*\//y;
const REGEX = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const TEMPLATE_TEXT = /(?:[^`\\$]|\\[^]|\$(?!\{))*/y;

/** The words of the code that stand outside strings, comments and regular expressions. @throws component.build_failed */
function* codeWords(source: string): Generator<string> {
  const braces: ("block" | "template")[] = [];
  let at = 0;
  let before = "";
  const eat = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(source)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  const eatTemplate = () => {
    eat(TEMPLATE_TEXT);
    if (source[at] === "`") at++;
    else if (source[at] === "$") {
      at += 2;
      braces.push("template");
    } else fail("found a template without its end");
  };
  while (at < source.length) {
    const character = source[at]!;
    if (character === "'" || character === '"') {
      if (eat(PLAIN_STRING) === undefined) fail("found a string without its end");
    } else if (character === "`") {
      at++;
      eatTemplate();
    } else if (character === "/" && eat(COMMENT) !== undefined) {
      continue;
    } else if (character === "/" && /[(,=:[!&|?{};]/.test(before)) {
      if (eat(REGEX) === undefined) fail("found a regular expression without its end");
    } else if (character === "{" || character === "}") {
      at++;
      if (character === "{") braces.push("block");
      else if (braces.pop() === "template") eatTemplate();
    } else {
      const word = eat(WORD);
      if (word !== undefined) yield word;
      else if (character === "\\" || character > "~") fail("found an escape or a character beyond ASCII in its code");
      else at++;
    }
    if (character.trim() !== "") before = source[at - 1]!;
  }
}

function fail(found: string): never {
  throw new CapsuleError("component.build_failed", `Check glue: ${found}; the component cannot be run safely`);
}
