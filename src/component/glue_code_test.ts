import { assertEquals, assertThrows } from "@std/assert";
import { linkGlue, makeGlueCode } from "./glue_code.ts";

/** What a glue gives that only returns `expression`. */
function linked(source: string, code: Uint8Array): unknown {
  return linkGlue(source, code)("console", "globals", "wasm");
}

Deno.test("linkGlue: the glue sees what it is given, and of the rest nothing, with its code and without", () => {
  const source =
    "return [console, globalThis, WebAssembly, typeof process, typeof Deno, typeof fetch, typeof postMessage];";
  for (const code of [makeGlueCode(source), new Uint8Array(0)]) {
    const hidden = ["undefined", "undefined", "undefined", "undefined"];
    assertEquals(linked(source, code), ["console", "globals", "wasm", ...hidden]);
  }
});

Deno.test("linkGlue takes the code, and does not read the text again: both are hashed", () => {
  assertEquals(linked("return 2;", makeGlueCode("return 1;")), 1);
});

Deno.test("linkGlue: code of a text of another length, or torn, is as none", () => {
  const code = makeGlueCode("return 1;");
  for (const other of [makeGlueCode("return 10;"), code.subarray(0, 60), new Uint8Array(3), new Uint8Array(4096)]) {
    assertEquals(linked("return 3;", other), 3);
  }
});

Deno.test("makeGlueCode runs nothing", () => {
  const source = "throw new Error('run');";
  const code = makeGlueCode(source);
  assertThrows(() => linked(source, code), Error, "run");
});
