import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "fast-check";
import { CapsuleError } from "../base/mod.ts";
import { readComponentNames } from "./component_names.ts";
import { buildSample, commandText, encodeText } from "./component_fixture.ts";
import { NameCheck } from "./name_grammar.ts";

/** A component with every form of type, instance and alias that the walk knows. */
const EVERYTHING = `(component
  (type $r (record (field "a" u8) (field "b-c" string)))
  (type (variant (case "x") (case "y" u32))) (type (enum "one" "two")) (type (flags "f1" "f2"))
  (type (list u8)) (type (tuple u8 char)) (type (option s64)) (type (result)) (type (result u8 (error string)))
  (import "a:b/types@0.1.0" (instance $t (export "res" (type $res (sub resource))) (type $l (list (borrow $res)))
    (export "[constructor]res" (func (result (own $res)))) (export "[method]res.go" (func (param "self" (borrow $res))))
    (export "[static]res.make" (func (param "n" f32) (result (own $res)))) (export "rec" (type (eq 1)))))
  (alias export $t "res" (type $outer))
  (import "plain" (func (param "p" bool) (result (tuple u8 u8))))
  (component $inner (import "f" (func $f)) (export "g" (func $f)) (type (component (import "deep" (func)) (export "out" (func)))))
  (core module $m (import "h" "f" (func)) (memory (export "mem") 1) (func (export "run") (result i32) i32.const 0)
    (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) i32.const 0))
  (core func $drop (canon resource.drop $outer))
  (core func $none (canon resource.drop $outer))
  (core instance $h (export "f" (func $drop)))
  (type $own (resource (rep i32)))
  (export "own-type" (type $own)))`;

Deno.test("readComponentNames: outer imports and exports of a component with every form", async () => {
  const outer = readComponentNames(await encodeText(EVERYTHING), new NameCheck());
  assertEquals(outer, { imports: ["a:b/types@0.1.0", "plain"], exports: ["own-type"] });
});

Deno.test("readComponentNames: WASI 0.3 types are refused by name", async () => {
  for (const type of ["(stream u8)", "(future u8)", "(func async)"]) {
    const bytes = await encodeText(`(component (type ${type}))`);
    const error = assertThrows(() => readComponentNames(bytes, new NameCheck()), CapsuleError);
    assertEquals(error.code, "component.unsupported", type);
    assertStringIncludes(error.message, "(WASI 0.3)", type);
  }
  readComponentNames(await encodeText("(component (type (list u8)) (type (func)))"), new NameCheck());
});

Deno.test("readComponentNames: whatever bytes are changed, the answer is names or a named refusal", async () => {
  const bytes = await encodeText(EVERYTHING);
  const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255));
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), fc.nat(bytes.length), (changes, cut) => {
      const broken = bytes.slice(0, bytes.length - (cut % 7 === 0 ? cut : 0));
      for (const [at, value] of changes) broken[at] = value;
      try {
        for (const name of readComponentNames(broken, new NameCheck()).imports) assert(/^[\x21-\x7e]+$/.test(name));
      } catch (error) {
        assert(error instanceof CapsuleError, String(error));
      }
    }),
    { numRuns: 3000 },
  );
});

Deno.test("buildComponent: whatever bytes are changed, the answer is a build or a named refusal", async () => {
  const bytes = await encodeText(commandText({ core: '(memory (export "m") 1)' }));
  const change = fc.tuple(fc.integer({ min: 8, max: bytes.length - 1 }), fc.nat(255));
  await fc.assert(
    fc.asyncProperty(change, async ([at, value]) => {
      try {
        assert((await buildSample(bytes.with(at, value))).glue.bytes > 0);
      } catch (error) {
        assert(error instanceof CapsuleError, String(error));
      }
    }),
    { numRuns: 25 },
  );
});
