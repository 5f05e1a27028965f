import { CapsuleError } from "../base/mod.ts";

/** Glue beyond this is refused, characters: a few types can be made to unfold into gigabytes of it. */
export const MAX_GLUE_CHARACTERS = 16 * 1024 * 1024;

/** What the transpiler never calls; such a call outside a literal means that a name became code. */
const FOREIGN_CALLS = new Set(["import", "eval", "Function"]);

const DEBUG_LOG =
  /const _debugLog = \(\.\.\.args\) => \{\s*if \(!globalThis\?\.process\?\.env\?\.JCO_DEBUG\) \{ return; \}\s*console\.debug\(\.\.\.args\);\s*\};/g;

/** The glue as the body of a function that returns `instantiate`, and how often it instantiates each core module. */
export interface FixedGlue {
  readonly source: string;
  readonly instances: ReadonlyMap<string, number>;
}

/**
 * Makes the transpiler's ES module a function body: no `export`, no `import.meta`, no debug log that reads the
 * environment at every call. Then checks the result without trusting the transpiler's escaping.
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

/** Scans the code outside literals, then lets the engine parse it as one function body (parse only: nothing runs). */
function checkCode(source: string): void {
  for (const call of codeCalls(source)) {
    if (FOREIGN_CALLS.has(call)) fail(`found a call of "${call}" in its code`);
  }
  try {
    new Function(source);
  } catch (error) {
    throw new CapsuleError("component.build_failed", "Check glue: it does not parse", { cause: error });
  }
}

/** One step over code: a word (group 1), a string or comment (group 2), or blanks and marks that open nothing. */
const STEP = new RegExp(
  [
    "([A-Za-z0-9_$#]+)",
    `('(?:[^'\\\\\n\r]|\\\\[^\n\r])*'|"(?:[^"\\\\\n\r]|\\\\[^\n\r])*"|//[^\n]*|/\\*[^]*?\\*/)`,
    "[ \n\r\t(),;:.=<>!&|?+*%~^@[\\]-]+",
  ].join("|"),
  "y",
);
const REGEX = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const TEMPLATE_TEXT = /(?:[^`\\$]|\\[^]|\$(?!\{))*/y;

/**
 * What is called by a name of its own (not as a member) outside strings, comments and regular expressions. Everything
 * in the glue is ASCII: names are, and a stray character is refused. @throws component.build_failed
 */
function* codeCalls(source: string): Generator<string> {
  const braces: ("block" | "template")[] = [];
  let at = 0;
  let mark = "";
  let bodies = 0;
  const eat = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };
  const eatTemplate = () => {
    eat(TEMPLATE_TEXT);
    if (source[at] === "`") return void at++;
    if (source[at] !== "$") fail("found a template without its end");
    at += 2;
    braces.push("template");
  };
  while (at < source.length) {
    const step = eat(STEP);
    if (step !== null) {
      if (step[1] !== undefined && mark !== "." && opensCall(source, at)) yield step[1];
      if (step[2]?.startsWith("/") !== true) mark = step[0].trimEnd().at(-1) ?? mark;
      continue;
    }
    const character = source[at]!;
    if (character === "/" && !/[(,=:[!&|?{};]/.test(mark)) at++;
    else if (character === "/") eat(REGEX) ?? fail("found a regular expression without its end");
    else if (character === "`" || (character === "}" && braces.pop() === "template")) {
      at++;
      eatTemplate();
    } else if (character === "{" || character === "}") {
      at++;
      if (character === "{") braces.push("block");
      else if (braces.length === 0) bodies++;
    } else fail(`found ${JSON.stringify(character)} in its code`);
    mark = character;
  }
  if (bodies !== 1) fail(`found ${bodies} blocks at its top, wanted the function alone`);
}

/** Whether an argument list stands at `at`; a comment there counts as one, for what is behind it is not looked at. */
function opensCall(source: string, at: number): boolean {
  while (source[at] === " " || source[at] === "\n") at++;
  return source[at] === "(" || source[at] === "/" || source[at] === "`" || source[at] === "?";
}

function fail(found: string): never {
  throw new CapsuleError("component.build_failed", `Check glue: ${found}; the component cannot be run safely`);
}
