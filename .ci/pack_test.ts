import { assertEquals, assertThrows } from "@std/assert";
import { Script } from "node:vm";
import { decodePack, encodePack, type ScriptParts } from "./pack.ts";
import { openPack, partsOf } from "./script_loader.ts";

const wrap = (code: string) => `(function(require,module,BOLL_BUNDLE){"use strict";${code}})`;
const encode = (text: string) => new TextEncoder().encode(text);

function packOfTexts(texts: Record<string, string>): Uint8Array<ArrayBuffer> {
  return encodePack(
    new Map(Object.entries(texts).map(([name, code]): [string, ScriptParts] => [name, { source: encode(wrap(code)) }])),
  );
}

Deno.test("encodePack: decodePack gives back every source and code, whatever their lengths", () => {
  const scripts = new Map<string, ScriptParts>([
    ["./empty.js", { source: new Uint8Array(0) }],
    ["./é.js", { source: encode("é".repeat(70_000)), code: new Uint8Array([0, 255, 10]) }],
    ["./last.js", { source: encode("x"), code: new Uint8Array(0) }],
  ]);
  assertEquals(decodePack(encodePack(scripts)), scripts);
  assertEquals(decodePack(encodePack(new Map())), new Map());
});

Deno.test("openPack: a script runs once, in a circle too; a name that no pack has is refused", () => {
  const load = openPack(
    partsOf(packOfTexts({
      "./a.js": `module.exports = { b: require("./b.js"), hash: require("node:crypto").createHash("sha256") };`,
      "./b.js": `globalThis.runs = (globalThis.runs ?? 0) + 1; module.exports.a = () => require("./a.js");`,
      "./foreign.js": `require("./elsewhere.js");`,
      "./url.js": `module.exports = BOLL_BUNDLE.url;`,
    })),
    "./a.js",
  );
  const a = load("./a.js") as { b: { a: () => unknown } };
  assertEquals([a.b.a(), load("./a.js")], [a, a]);
  assertEquals((globalThis as unknown as { runs: number }).runs, 1);
  assertEquals(load("./url.js"), new URL("./script_loader.ts", import.meta.url).href);
  assertThrows(() => load("./foreign.js"), Deno.errors.NotFound);
  assertThrows(() => load("constructor"), Deno.errors.NotFound);
});

Deno.test("openPack: code of another source, or torn, is as none", () => {
  const source = wrap(`module.exports = "right";`);
  const other = new Script(wrap(`module.exports = "wrong, and longer";`)).createCachedData();
  for (const code of [new Uint8Array(other), new Uint8Array(3), new Uint8Array(other.subarray(0, 60))]) {
    const load = openPack(partsOf(encodePack(new Map([["./a.js", { source: encode(source), code }]]))), "./a.js");
    assertEquals(load("./a.js"), "right");
  }
});
