import { assertEquals, assertThrows } from "@std/assert";
import { join } from "@std/path";
import { judge, readProgram } from "./program.ts";

Deno.test("readProgram takes the description beside a program, gives folders as the guest sees them, names what cannot be given, and refuses what is none", () => {
  const folder = Deno.makeTempDirSync();
  try {
    const program = join(folder, "a.wasm");
    assertEquals(readProgram(program), { path: program, args: [], env: {}, dirs: [], exitCode: 0 });
    const description = { args: ["x", "d"], dirs: ["d"], env: { A: "b" }, exit_code: 3, stdout: "out" };
    Deno.writeTextFileSync(join(folder, "a.json"), JSON.stringify(description));
    assertEquals(readProgram(program), {
      ...{ path: program, args: ["x", "/d"], env: { A: "b" }, dirs: ["d"], exitCode: 3, stdout: "out" },
    });
    for (const field of ["root", "operations"]) {
      Deno.writeTextFileSync(join(folder, "a.json"), JSON.stringify({ [field]: ["d"] }));
      assertEquals(readProgram(program).unfit?.split(":")[0], field);
    }
    Deno.writeTextFileSync(join(folder, "a.json"), "{");
    assertThrows(() => readProgram(program), SyntaxError);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("judge holds exit code and what is described of the output, and says what was written when one is wrong", () => {
  const program = { path: "a.wasm", args: [], env: {}, dirs: [], exitCode: 3, stdout: "out" };
  assertEquals(judge(program, { code: 3, stdout: "out", stderr: "anything" }), []);
  assertEquals(judge(program, { code: 1, stdout: "", stderr: "why\n" }), [
    "exit code: found 1, wanted 3",
    'stdout: found "", wanted "out"',
    "why",
  ]);
});
