import { assert, assertEquals, assertMatch } from "@std/assert";
import { forMode } from "../harness.ts";
import { runInShell } from "./shell.ts";
import { assertNothingAfterGc, assertWholeRecords, halfMade } from "./whole_records.ts";
import { warmGuest } from "../warm_cache.ts";

forMode(
  "binary",
  "caller's limits: with ever fewer open files a run ends well, or says which limit to raise",
  async (bed) => {
    const hello = await warmGuest(bed, "hello_stdio");
    let failures = 0;
    for (const limit of [64, 32, 24, 21, 20, 19, 18, 17, 16, 15]) {
      const { code, stdout, stderr } = await runInShell(bed, `ulimit -n ${limit}; $boll run ${hello}`);
      if (code === 0) assertEquals(stdout, "hello from wasm\n");
      else {
        failures++;
        const lastLine = stderr.trimEnd().split("\n").at(-1)!;
        assertEquals(code, 1, `${limit}: ${stderr}`);
        assertMatch(lastLine, /^boll: .*`ulimit -n`/, `${limit}: ${stderr}`);
      }
      if (limit >= 32) assertEquals(code, 0, stderr);
    }
    assert(failures > 2);
    assertWholeRecords(bed.home);
    await assertNothingAfterGc(bed);
  },
);

forMode(
  "binary",
  "caller's limits: a small file size is an error with its name, in boll and in the build, and no death",
  async (bed) => {
    const hello = await warmGuest(bed, "hello_stdio");
    const cold = { env: { BOLL_HOME: `${bed.root}/cold` } };
    for (const blocks of [0, 1, 8]) {
      const { code, stderr } = await runInShell(bed, `ulimit -f ${blocks}; $boll run ${hello}`, cold);
      assertEquals(code, 1, stderr);
      assertMatch(stderr, /^boll: .*File too large.*`ulimit -f`\)?\n$/);
      assertEquals(halfMade(cold.env.BOLL_HOME), []);
    }
    const { code, stdout } = await runInShell(bed, `ulimit -f 16; $boll run ${hello}`);
    assertEquals([code, stdout], [0, "hello from wasm\n"]);
  },
);
