import { assertEquals, assertThrows } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { ResultFile } from "./result_file.ts";

function withFolder(run: (out: string) => void): void {
  const out = Deno.makeTempDirSync({ prefix: "boll-result-" });
  try {
    run(out);
  } finally {
    Deno.removeSync(out, { recursive: true });
  }
}

function filesOf(out: string): string[] {
  return [...Deno.readDirSync(out)].map(({ name }) => name);
}

Deno.test("ResultFile: nothing is read before it is committed, then the whole, 0600", () =>
  withFolder((out) => {
    using result = ResultFile.open({ out });
    result.write(new Uint8Array([1, 2]));
    assertEquals(filesOf(out).includes("result.txt"), false);
    result.write(new Uint8Array([3]));
    result.commit();
    assertEquals(filesOf(out), ["result.txt"]);
    assertEquals(Deno.readFileSync(`${out}/result.txt`), new Uint8Array([1, 2, 3]));
    assertEquals((Deno.statSync(`${out}/result.txt`).mode ?? 0) & 0o777, 0o600);
  }));

Deno.test("ResultFile: one that is dropped leaves nothing, and where none can be made is named", () =>
  withFolder((out) => {
    {
      using result = ResultFile.open({ out });
      result.write(new Uint8Array([1]));
    }
    assertEquals(filesOf(out), []);
    const error = assertThrows(() => ResultFile.open({ out: `${out}/missing` }), CapsuleError);
    assertEquals(error.code, "home.unwritable");
  }));

Deno.test("ResultFile: nothing written is no result", () =>
  withFolder((out) => {
    using result = ResultFile.open({ out });
    result.write(new Uint8Array(0));
    result.commit();
    assertEquals(filesOf(out), []);
  }));

Deno.test("ResultFile: an earlier result stays until there is another, and is none of one that wrote nothing", () =>
  withFolder((out) => {
    const commit = (text: string) => {
      using result = ResultFile.open({ out });
      result.write(new TextEncoder().encode(text));
      result.commit();
    };
    commit("first");
    ResultFile.open({ out })[Symbol.dispose]();
    assertEquals(Deno.readTextFileSync(`${out}/result.txt`), "first");
    commit("second");
    assertEquals(Deno.readTextFileSync(`${out}/result.txt`), "second");
    commit("");
    assertEquals(filesOf(out), []);
  }));
