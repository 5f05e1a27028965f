import { assertEquals, assertThrows } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { fixGlue } from "./glue.ts";

/** A glue with the parts that the transpiler always writes, and `body` among them. */
function glueText(body = ""): string {
  return `"use components";
export function instantiate(getCoreModule, imports, instantiateCore = WebAssembly.instantiate) {
  const _debugLog = (...args) => {
    if (!globalThis?.process?.env?.JCO_DEBUG) { return; }
    console.debug(...args);
  };
  _debugLog('x');
const fetchCompile = url => fetch(url).then(WebAssembly.compileStreaming);
  if (!getCoreModule) getCoreModule = (name) => fetchCompile(new URL(\`./\${name}\`, import.meta.url));
  const module0 = getCoreModule('c.core.wasm');
  const module1 = getCoreModule('c.core2.wasm');
  const gen = (function* () {
    yield instantiateCore(yield module0);
    yield instantiateCore(yield module1, {});
    yield instantiateCore(yield module1, {});
  })();
  ${body}
}
export const _util = {
}
`;
}

Deno.test("fixGlue: a function body without export, import.meta and environment, and instances counted per module", () => {
  const { source, instances } = fixGlue(glueText());
  assertEquals([...instances], [["c.core.wasm", 1], ["c.core2.wasm", 2]]);
  assertEquals(/\bexport\b|import\b|process|fetch/.test(source), false);
  assertEquals(typeof new Function(source)(), "function");
  assertEquals(source.includes("return (function instantiate("), true, "in brackets, so that it is compiled at once");
});

Deno.test("fixGlue: a part that is missing, doubled or changed is refused", () => {
  const text = glueText();
  const changes: [RegExp | string, string][] = [
    ["export function instantiate", "function instantiate"],
    ["if (!globalThis?.process", "if (!process"],
    ["_debugLog = (...args) => {", "_debugLog = (args) => {"],
    ["export const _util = {\n}", ""],
    ["fetch(url)", "fetch(url, 1)"],
    ["import.meta.url));", "import.meta.url, 1));"],
    ["import.meta.url));", "import.meta.url)); import.meta.url;"],
    ["getCoreModule('c.core.wasm')", 'getCoreModule("c.core.wasm")'],
    ["instantiateCore(yield module0)", "instantiateCore(yield module2)"],
    ["instantiateCore(yield module0)", "instantiateCore(module0)"],
    ["const gen", "const more = getCoreModule(name); const gen"],
  ];
  for (const [from, to] of changes) {
    const changed = text.replace(from, () => to);
    assertEquals(changed === text, false);
    assertEquals(assertThrows(() => fixGlue(changed), CapsuleError).code, "component.build_failed", to);
  }
});

Deno.test("fixGlue: code where a name should be is refused, the same inside a literal is not", () => {
  for (
    const call of [
      'import("x")',
      "import ('x')",
      "import/**/('x')",
      "eval(x)",
      "new Function(x)",
      "a + eval (x)",
      "eval?.(x)",
    ]
  ) {
    for (
      const place of [
        "CODE;",
        "`${CODE}`;",
        "`${`${CODE}`}`;",
        "x = {y: CODE};",
        "f(...CODE);",
        "/[/]/.test(CODE);",
        "a / CODE / b;",
      ]
    ) {
      const text = glueText(place.replace("CODE", () => call));
      assertThrows(() => fixGlue(text), CapsuleError, "found a call of");
    }
    const quoted = call.replaceAll("'", '"');
    for (const place of ["'CODE';", "`CODE`;", "// CODE", "x.CODE;".replace("new ", "")]) {
      if (place.startsWith("x.") && !/^(eval|import) ?\(/.test(quoted)) continue;
      fixGlue(glueText(place.replace("CODE", () => quoted)));
    }
  }
});

Deno.test("fixGlue: what does not parse as one function body, or is not ASCII, is refused", () => {
  for (
    const body of [
      "} evil(); {",
      "}); evil(",
      "}); (function () {",
      "'",
      "`${",
      "/* ",
      "\\u0065val(x)",
      "é",
      "x = 1\u2028y",
      "await x",
      "with (x) {}",
    ]
  ) {
    assertThrows(() => fixGlue(glueText(body)), CapsuleError, "Check glue");
  }
  assertThrows(() => fixGlue(glueText() + "}\nfunction x() {"), CapsuleError);
});
