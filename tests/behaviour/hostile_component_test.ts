import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  COMPONENT_HEAD,
  encodeText,
  joinBytes,
  leb,
  nameBytes,
  quote,
  section,
} from "../../src/component/component_fixture.ts";
import { type Bed, forExecutable } from "../harness.ts";

/** A component of the bed, from its text or its bytes. */
async function component(bed: Bed, sample: string | Uint8Array): Promise<string> {
  const path = `${bed.folder("hostile")}/${crypto.randomUUID()}.wasm`;
  Deno.writeFileSync(path, typeof sample === "string" ? await encodeText(sample) : sample);
  return path;
}

/** A component that imports so many functions. */
function withImports(count: number): Uint8Array {
  const imports = Array.from(
    { length: count },
    (_, n) => joinBytes([Uint8Array.of(0), nameBytes(`f${n}`), Uint8Array.of(1, 0)]),
  );
  return joinBytes([
    COMPONENT_HEAD,
    section(7, Uint8Array.of(1, 0x40, 0, 1, 0)),
    section(10, joinBytes([Uint8Array.from(leb(count)), ...imports])),
  ]);
}

forExecutable("run: a component with hostile names is refused, and boll says so in its own words", async (bed) => {
  const names = ["*/", "a\nb\x1b[2J", "');Deno.exit(99);('", "${Deno.exit(99)}", "__proto__", "x".repeat(1 << 20)];
  for (const name of names) {
    const path = await component(bed, `(component (import ${quote(name)} (func)))`);
    for (const verb of [["run"], ["explain"]]) {
      const { code, stdout, stderr, lastLine } = await bed.run([...verb, path]);
      assertEquals([code, stdout], [2, ""], `${verb} ${name.slice(0, 20)}: ${stderr.slice(0, 500)}`);
      assertMatch(lastLine, /^boll: /);
      assert(stderr.length < 1000 && /^[\x20-\x7e…]*\n$/.test(stderr), stderr.slice(0, 1000));
    }
    const last = bed.trace().at(-1);
    assertEquals([last?.event, last?.ended_by, last?.exit_code], ["session_end", "refused", 2]);
  }
});

forExecutable(
  "run: a component with 100 000 imports is refused, one with JavaScript's own words is named",
  async (bed) => {
    const many = await bed.run(["run", await component(bed, withImports(100_000))]);
    assertEquals([many.code, many.stdout], [2, ""], many.stderr.slice(0, 500));
    assert(many.stderr.length < 1000);
    const words = '(component (import "constructor" (func)) (import "a:b/to-string" (instance)))';
    const own = await bed.run(["run", await component(bed, words)]);
    assertEquals([own.code, own.stdout], [5, ""], own.stderr);
    assertMatch(own.stderr, /constructor/);
  },
);
