/** Real components and core modules that fuzzing starts from: guests of the tests, and some that hold what they do not. */
import { commandText, encodeText } from "../../src/component/component_fixture.ts";
import { fixture } from "../harness.ts";
import { coreModulesOf } from "./section_mutation.ts";

const SMALL_GUESTS = ["exit3", "hello_stdio", "cat", "file_copy", "handles", "grow", "wants_http", "wants_sockets"];
const MODULE_GUESTS = ["p1_exit3", "p1_hello", "core_only"];

/** Types, resources, nested components and instances, of which the guests above have few. */
const COMPONENT_TEXTS = [
  commandText(),
  commandText({
    before: `(import "a:b/c@1.0.0" (instance $i
        (type $r (record (field "x" u32) (field "y-z" string)))
        (export "rec" (type $e (eq $r)))
        (export "res" (type $s (sub resource)))
        (export "[constructor]res" (func (param "x" u32) (result (own $s))))
        (export "[method]res.get" (func (param "self" (borrow $s)) (param "l" (list u8)) (result (list $e))))
        (export "f" (func (param "v" (option (tuple u8 char float64))) (result (result $e (error string)))))))
      (alias export $i "f" (func $f))
      (core module $mem (memory (export "m") 1 4)
        (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 8))
      (core instance $mi (instantiate $mem))
      (core func $g (canon lower (func $f) (memory (core memory $mi "m")) (realloc (core func $mi "realloc"))))`,
    args: '(with "h" (instance (export "g" (func $g))))',
    core: '(import "h" "g" (func $g (param i32 i32 i32 f64 i32)))',
    body: "(call $g (i32.const 0) (i32.const 0) (i32.const 0) (f64.const 0) (i32.const 16)) i32.const 0",
  }),
  `(component
    (type $v (variant (case "a" u32) (case "b" string) (case "c")))
    (type $fl (flags "f1" "f2" "f3"))
    (type $en (enum "x" "y"))
    (component $inner (import "f" (func (result u32))) (export "g" (func 0)))
    (core module $m (memory (export "mem") 1) (table (export "t") 4 8 funcref)
      (func (export "f") (result i32) i32.const 3)
      (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 0))
    (core instance $i (instantiate $m)) (core instance $j (instantiate $m))
    (func $f (result u32) (canon lift (core func $i "f")))
    (instance $n (instantiate $inner (with "f" (func $f))))
    (alias export $n "g" (func $g))
    (export "g" (func $g)) (export "h" (instance $n)))`,
];

const MODULE_TEXTS = [
  "(module)",
  '(module (memory (export "m") 1) (func (export "_start")))',
  '(module (memory (export "m") 2 9) (memory (export "n") 0) (table (export "t") 1 funcref) (data (i32.const 8) "abc"))',
  '(module (memory (export "m") i64 1 200000) (table (export "t") 3 4 externref))',
  '(module (import "h" "m" (memory 1)) (import "h" "t" (table 1 funcref)) (import "h" "g" (global i32)) (memory 1 1))',
  `(module (type (func (param i32 i64 f32 f64 v128 funcref externref))) (tag $e (param i32)) (memory 1 2 shared)
    (global (mut i32) (i32.const -1)) (func (result i32) memory.size) (start 1) (func)
    (elem (i32.const 0) 0 1) (table 5 5 funcref))`,
];

/** Of everything the smallest: cheap enough to be mutated a thousand times. */
export async function smallComponents(): Promise<Uint8Array[]> {
  const texts = await Promise.all([...COMPONENT_TEXTS, ...MODULE_TEXTS].map(encodeText));
  return [...texts, ...await readGuests([...SMALL_GUESTS, ...MODULE_GUESTS])];
}

/** Guests with a whole JavaScript engine in them, as people bring them. */
export async function largeComponents(): Promise<Uint8Array[]> {
  return await readGuests(["probe", "sockets_probe"]);
}

/** Every core module of these, each once. */
export function coreModules(components: readonly Uint8Array[]): Uint8Array[] {
  return components.flatMap(coreModulesOf);
}

async function readGuests(names: readonly string[]): Promise<Uint8Array[]> {
  const guests: Uint8Array[] = [];
  for (const name of names) guests.push(Deno.readFileSync(await fixture(name)));
  return guests;
}
