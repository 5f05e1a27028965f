import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import {
  buildSample,
  cacheSample,
  commandText,
  COMPONENT_HEAD,
  encodeText,
  inFolder,
  joinBytes,
  leb,
  MODULE_HEAD,
  nameBytes,
  quote,
  section,
} from "./component_fixture.ts";
import { readComponentNames } from "./component_names.ts";
import { findRun, instantiate, loadCached } from "./mod.ts";
import { MAX_NAMES, NameCheck } from "./name_grammar.ts";

/** Names that would be code, or someone else's property, if they reached a careless generator. */
const HOSTILE = [
  "'",
  '"',
  "`",
  "\\",
  "a'b",
  "a\nb",
  "a\r",
  "*/",
  "a*/b",
  "//",
  "${globalThis.hit=1}",
  "');globalThis.hit=1;('",
  '");globalThis.hit=1;("',
  "x(){globalThis.hit=1}",
  "__proto__",
  "\u2028",
  "\u2029",
  "\u202e",
  "\0",
  "\x1b[2J",
  "é",
  "漢",
  "x".repeat(1 << 20),
];

/** Where component text takes a name between components; `NAME` is the quoted name. */
const PLACES = {
  "function import": "(component (import NAME (func)))",
  "interface import": "(component (import NAME (instance)))",
  "function of an imported interface": '(component (import "a:b/c@1.0.0" (instance (export NAME (func)))))',
  "resource of an imported interface":
    '(component (import "a:b/c@1.0.0" (instance (export NAME (type (sub resource))))))',
  "parameter": '(component (import "f" (func (param NAME u32))))',
  "record field": "(component (type (record (field NAME u32))))",
  "variant case": "(component (type (variant (case NAME u32))))",
  "enum case": "(component (type (enum NAME)))",
  "flag": "(component (type (flags NAME)))",
  "export": '(component (core module $m (func (export "f"))) (core instance $i (instantiate $m)) ' +
    '(func $f (canon lift (core func $i "f"))) (export NAME (func $f)))',
  "nested component's import": "(component (component (import NAME (func))))",
  "component type's import": "(component (type (component (import NAME (func)))))",
  "instance argument": '(component (import "f" (func $f)) (component $c (import "x" (func))) ' +
    "(instance (instantiate $c (with NAME (func $f)))))",
  "inline export": '(component (import "f" (func $f)) (instance (export NAME (func $f))))',
  "alias": '(component (import "i" (instance $i)) (alias export $i NAME (func)))',
};

/** The same for core modules. */
const CORE_PLACES = {
  "module of a core import": commandText({ core: '(import NAME "f" (func))' }),
  "name of a core import": commandText({ core: '(import "f" NAME (func))' }),
  "core export": commandText({ core: "(func (export NAME))" }),
  "core instance argument": commandText({ before: "(core instance $x)", args: "(with NAME (instance $x))" }),
  "core inline export": commandText({
    before: '(import "f" (func $f)) (core func $g (canon lower (func $f))) ' +
      "(core instance $x (export NAME (func $g)))",
  }),
  "core alias": commandText({ before: "(core instance $x) (alias core export $x NAME (core func))" }),
};

for (const [place, text] of [...Object.entries(PLACES), ...Object.entries(CORE_PLACES)]) {
  Deno.test(`readComponentNames: a hostile name as ${place} is refused, a plain one is not`, async () => {
    for (const name of HOSTILE) {
      const bytes = await encodeText(text.replace("NAME", () => quote(name)));
      const error = assertThrows(() => readComponentNames(bytes, new NameCheck()), CapsuleError);
      assertEquals(error.code, "component.invalid", error.message);
      assert(error.message.length < 500, `${error.message.length}`);
      assert(/^[\x20-\x7e]*$/.test(error.message.replace(/[é漢…]/g, "")), error.message);
    }
    const plain = await encodeText(text.replace("NAME", () => quote("plain-name")));
    readComponentNames(plain, new NameCheck());
  });
}

Deno.test("readComponentNames: names of other grammars (url, hash, locked dependency) are refused", async () => {
  for (
    const name of [
      "url=<https://a/b>",
      "integrity=<sha256-AAAA>",
      "locked-dep=<a:b@1.0.0>",
      "a:b:c/d",
      "a/b",
      "A b",
      "9a",
      "a--b",
      "",
    ]
  ) {
    const bytes = await encodeText(`(component (import ${quote(name)} (func)))`);
    const error = assertThrows(() => readComponentNames(bytes, new NameCheck()), CapsuleError);
    assertEquals(error.code, "component.invalid", name);
  }
  const fine = ["a", "a-b2", "HTTP-get", "a:b/c", "a:b/c@0.2.0", "[method]a.b", "[static]a.b-c", "[constructor]a"];
  const bytes = await encodeText(`(component ${fine.map((name) => `(import ${quote(name)} (func))`).join("")})`);
  assertEquals(readComponentNames(bytes, new NameCheck()).imports, fine);
});

/** A command that calls function `name` of interface a:b/c. */
function callerOf(name: string): string {
  return commandText({
    before: `(import "a:b/c@1.0.0" (instance $i (export "${name}" (func))))
      (core func $g (canon lower (func $i "${name}")))`,
    args: '(with "h" (instance (export "g" (func $g))))',
    core: '(import "h" "g" (func $g))',
    body: "call $g i32.const 0",
  });
}

const camelCase = (name: string) => name.replace(/-./g, (found) => found[1]!.toUpperCase());

Deno.test("instantiate: JavaScript's own words as WIT names call the host's function, and nothing when it has none", async () => {
  const words = ["constructor", "prototype", "to-string", "value-of", "has-own-property", "await", "eval", "import"];
  for (
    const name of [...words, "class", "default", "null", "this", "imports", "object", "symbol", "process"]
  ) {
    await inFolder(async (folder) => {
      const loaded = loadCached(await cacheSample(folder, callerOf(name)));
      let calls = 0;
      await findRun(await instantiate(loaded, { "a:b/c": { [camelCase(name)]: () => void calls++ } }))!();
      assertEquals(calls, 1, name);
      await assertRejects(() => instantiate(loaded, { "a:b/c": {} }), Error, "unexpectedly undefined");
      await assertRejects(() => instantiate(loaded, {}), TypeError);
    });
  }
});

Deno.test("instantiate: a name that the glue uses itself cannot stand in for a function that the host has not", async () => {
  const own = ["arguments", "get-core-module", "module0", "global-this", "exports0", "gen", "promise", "trampoline0"];
  for (const name of [...own, "memory0", "instantiate", "web-assembly", "console", "error", "task", "ret", "arg0"]) {
    await inFolder(async (folder) => {
      const link = async () => {
        const loaded = loadCached(await cacheSample(folder, callerOf(name)));
        return await instantiate(loaded, { "a:b/c": {} });
      };
      const error = await assertRejects(link, Error);
      const isRefusal = error instanceof CapsuleError && error.code === "component.build_failed";
      const isLinkError = /unexpectedly undefined|before initialization|properties of undefined/.test(error.message);
      assert(isRefusal || isLinkError, `${name}: ${error}`);
    });
  }
});

Deno.test("instantiate: interfaces called like Object's properties resolve to nothing", async () => {
  for (const name of ["constructor", "to-string", "value-of", "has-own-property"]) {
    const before = `(import "${name}" (func $f)) (core func $g (canon lower (func $f)))`;
    const args = '(with "h" (instance (export "g" (func $g))))';
    const sample = commandText({ before, args, core: '(import "h" "g" (func $g))', body: "call $g i32.const 0" });
    await inFolder(async (folder) => {
      const loaded = loadCached(await cacheSample(folder, sample));
      await assertRejects(() => instantiate(loaded, {}), Error);
    });
  }
});

Deno.test("instantiate: methods that a host class only inherits from Object or Function are no functions", async () => {
  for (const method of ["[method]r.has-own-property", "[method]r.to-string", "[static]r.call", "[static]r.to-string"]) {
    const self = method.startsWith("[method]") ? '(param "self" (borrow 0))' : "";
    const before = `(import "a:b/c@1.0.0" (instance $i (export "r" (type (sub resource)))
        (export "make" (func (result (own 0)))) (export "${method}" (func ${self} (result u32)))))
      (core func $make (canon lower (func $i "make"))) (core func $call (canon lower (func $i "${method}")))`;
    const type = self === "" ? "(func $call (result i32))" : "(func $call (param i32) (result i32))";
    const core = `(import "h" "make" (func $make (result i32))) (import "h" "call" ${type})`;
    const args = '(with "h" (instance (export "make" (func $make)) (export "call" (func $call))))';
    const body = `call $make ${self === "" ? "drop " : ""}call $call drop i32.const 0`;
    class Base {}
    class R extends Base {}
    await inFolder(async (folder) => {
      const loaded = loadCached(await cacheSample(folder, commandText({ before, core, args, body })));
      const run = async () => await findRun(await instantiate(loaded, { "a:b/c": { R, make: () => new R() } }))!();
      const error = await assertRejects(run, TypeError);
      assertStringIncludes(error.message, "is not a function");
    });
  }
});

Deno.test("buildComponent: hostile custom sections change nothing", async () => {
  const plain = await encodeText(commandText());
  const customs = HOSTILE.slice(0, -1).flatMap((name) => [
    section(0, joinBytes([nameBytes(name), nameBytes(name)])),
    section(0, joinBytes([nameBytes("component-name"), nameBytes(name)])),
    section(0, joinBytes([nameBytes("producers"), nameBytes(name)])),
  ]);
  const dressed = await buildSample(joinBytes([plain, ...customs]));
  assertEquals(dressed.glue, (await buildSample(plain)).glue);
});

Deno.test("buildComponent: 100 000 names are too many, whatever they name; 1 000 imports pass", async () => {
  const many = 100_000;
  const functions = (count: number) =>
    joinBytes([
      COMPONENT_HEAD,
      section(7, Uint8Array.of(1, 0x40, 0, 1, 0)),
      section(
        10,
        joinBytes([
          Uint8Array.from(leb(count)),
          ...Array.from({ length: count }, (_, n) =>
            joinBytes([Uint8Array.of(0), nameBytes(`f${n}`), Uint8Array.of(1, 0)])),
        ]),
      ),
    ]);
  const exports = joinBytes([
    MODULE_HEAD,
    section(1, Uint8Array.of(1, 0x60, 0, 0)),
    section(3, Uint8Array.of(1, 0)),
    section(
      7,
      joinBytes([
        Uint8Array.from(leb(many)),
        ...Array.from({ length: many }, (_, n) => joinBytes([nameBytes(`f${n}`), Uint8Array.of(0, 0)])),
      ]),
    ),
    section(10, Uint8Array.of(1, 2, 0, 0x0b)),
  ]);
  for (const bytes of [functions(many), functions(1001), joinBytes([COMPONENT_HEAD, section(1, exports)]), exports]) {
    const error = await assertRejects(() => buildSample(bytes), CapsuleError);
    assertEquals(error.code, "component.too_large", error.message);
  }
  assertEquals((await buildSample(functions(1000))).description.imports.length, 1000);
  assert(MAX_NAMES < many);
});

Deno.test("readComponentNames: counts and lengths that lie are refused without being believed", () => {
  const lie = [0xff, 0xff, 0xff, 0xff, 0x0f];
  for (const id of [2, 5, 6, 7, 10, 11]) {
    const bytes = joinBytes([COMPONENT_HEAD, section(id, Uint8Array.from(lie))]);
    const error = assertThrows(() => readComponentNames(bytes, new NameCheck()), CapsuleError);
    assertEquals(error.code, "component.invalid");
  }
  const long = joinBytes([COMPONENT_HEAD, section(10, Uint8Array.of(1, 0, ...lie))]);
  assertThrows(() => readComponentNames(long, new NameCheck()), CapsuleError, "wanted at most 256");
  const deep = Array.from({ length: 40 }).reduce<Uint8Array>(
    (inner) => joinBytes([COMPONENT_HEAD, section(4, inner)]),
    COMPONENT_HEAD,
  );
  assertThrows(() => readComponentNames(deep, new NameCheck()), CapsuleError, "nesting deeper");
});

Deno.test("buildComponent: types that unfold without end are refused, their small likes are not", async () => {
  const unfold = (depth: number, functions: number) => {
    const types = Array.from({ length: depth }, (_, n) => `(type $t${n + 1} (tuple $t${n} $t${n}))`).join(" ");
    const each = (text: (n: number) => string) => Array.from({ length: functions }, (_, n) => text(n)).join(" ");
    return `(component (type $t0 (tuple u8 u8)) ${types}
      (core module $m (memory (export "m") 1)) (core instance $i (instantiate $m))
      ${
      each((n) =>
        `(import "f${n}" (func $f${n} (param "x" $t${depth})))
        (core func $g${n} (canon lower (func $f${n}) (memory (core memory $i "m"))))`
      )
    }
      (core module $n ${each((n) => `(import "h" "g${n}" (func (param i32)))`)})
      (core instance (instantiate $n (with "h" (instance ${each((n) => `(export "g${n}" (func $g${n}))`)})))))`;
  };
  const wide = await assertRejects(() => buildSample(unfold(15, 2)), CapsuleError);
  assertEquals(wide.code, "component.too_large");
  const deep = await assertRejects(() => buildSample(unfold(24, 1)), CapsuleError);
  assertEquals(deep.code, "component.invalid");
  assertEquals((await buildSample(unfold(4, 2))).description.imports, ["f0", "f1"]);
});
