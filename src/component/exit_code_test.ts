import { assertEquals } from "@std/assert";
import { cacheSample, inFolder } from "./component_fixture.ts";
import { findRun, instantiate, loadCached } from "./mod.ts";

class Resource {}

/** What an adapted program that exits imports besides. */
function exitHost(exitWithCode: (code: number) => never) {
  return {
    "wasi:cli/exit": { exitWithCode },
    "wasi:cli/stderr": { getStderr: () => new Resource() },
    "wasi:io/error": { Error: Resource },
    "wasi:io/streams": { InputStream: Resource, OutputStream: Resource },
  };
}

async function exitCodeOf(code: number): Promise<unknown> {
  return await inFolder(async (folder) => {
    const cached = await cacheSample(
      folder,
      `(module (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32))) (memory (export "memory") 1)
        (func (export "_start") (call $exit (i32.const ${code}))))`,
    );
    let given: unknown;
    const host = exitHost((code) => {
      given = code;
      throw new Error("exit");
    });
    await findRun(await instantiate(loadCached(cached), host))!()?.catch(() => {});
    return given;
  });
}

Deno.test("buildComponent: the exit code of a preview1 program is its own, of eight bits", async () => {
  for (const [code, given] of [[0, 0], [1, 1], [42, 42], [255, 255], [300, 44], [-1, 255]] as const) {
    assertEquals(await exitCodeOf(code), given);
  }
});
