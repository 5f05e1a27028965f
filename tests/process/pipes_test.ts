import { assertEquals, assertStringIncludes } from "@std/assert";
import { type Bed, forExecutable } from "../harness.ts";
import { runInShell } from "../storms/shell.ts";
import { assertNothingLeft } from "./leftovers.ts";
import { sessionEnd } from "./limited_run.ts";
import { warmGuest } from "../warm_cache.ts";

/** How the newest session ended. */
function ending(bed: Bed): unknown[] {
  const { status, exit_code, ended_by } = sessionEnd(bed);
  return [status, exit_code, ended_by];
}

forExecutable(
  "pipes: `yes | boll run cat | head -1` ends with 141 and leaves nothing, with and without a mount",
  async (bed) => {
    const cat = await warmGuest(bed, "cat");
    for (const flags of ["", `--mount ${bed.folder("data")}:/data:ro`]) {
      const found = await runInShell(bed, `{ yes | $boll run ${cat} ${flags}; echo "code $?" >&2; } | head -1`);
      assertEquals(found, { code: 0, stdout: "y\n", stderr: "code 141\n" });
      assertEquals(ending(bed), ["failed", 141, "stdout_closed"]);
      assertNothingLeft(bed);
    }
  },
);

forExecutable(
  "pipes: when the reader of stdout has gone, a guest that ends well is 0 and one that fails is 141",
  async (bed) => {
    for (const [code, found] of [[0, 0], [3, 141]] as const) {
      assertEquals(await runWithoutReader(bed, `readStdin(); attempt(() => print("two")); exit(${code})`), found);
      assertEquals(ending(bed)[2], found === 0 ? "guest" : "stdout_closed");
    }
    // It never wrote again, so its own code is its own.
    assertEquals(await runWithoutReader(bed, "readStdin(); exit(3)"), 3);
    assertEquals(ending(bed), ["failed", 3, "guest"]);
  },
);

/** Starts a probe that prints a line, stops reading its output, lets its input end, and gives the exit code of boll. */
async function runWithoutReader(bed: Bed, source: string): Promise<number> {
  const [program = "", ...args] = bed.command(["run", await warmGuest(bed, "probe"), "--", `print("up"); ${source}`]);
  const options = { args, cwd: bed.root, clearEnv: true, env: bed.environment(), stderr: "null" } as const;
  const child = new Deno.Command(program, { ...options, stdin: "piped", stdout: "piped" }).spawn();
  const net = setTimeout(() => child.kill("SIGKILL"), 60_000);
  const reader = child.stdout.getReader();
  await reader.read();
  await reader.cancel();
  await child.stdin.close();
  const { code } = await child.status;
  clearTimeout(net);
  return code;
}

forExecutable(
  "pipes: streams that are closed from the start are empty or take everything, as /dev/null does",
  async (bed) => {
    const [cat, hello, trap] = [
      await warmGuest(bed, "cat"),
      await warmGuest(bed, "hello_stdio"),
      await warmGuest(bed, "trap"),
    ];
    const clean = { code: 0, stdout: "", stderr: "" };
    assertEquals(await runInShell(bed, `$boll run ${cat} <&-`), clean);
    assertEquals(await runInShell(bed, `echo x | $boll run ${cat} >&-`), clean);
    assertEquals(await runInShell(bed, `$boll run ${hello} <&- >&- 2>&-`), clean);
    assertEquals(await runInShell(bed, `$boll run ${trap} 2>&-`), { ...clean, code: 1 });
    assertEquals(ending(bed), ["failed", 1, "trap"]);
    assertNothingLeft(bed);
  },
);

forExecutable(
  "pipes: a full device is an error for the guest, and for boll's own line no reason to end otherwise",
  async (bed) => {
    const [cat, ok, trap] = [await warmGuest(bed, "cat"), await warmGuest(bed, "ok"), await warmGuest(bed, "trap")];
    assertEquals(await runInShell(bed, `echo x | $boll run ${cat} >/dev/full`), { code: 1, stdout: "", stderr: "" });
    assertEquals(ending(bed), ["failed", 1, "guest"]);
    assertEquals((await runInShell(bed, `$boll run ${ok} >/dev/full`)).code, 0);
    assertEquals((await runInShell(bed, `$boll run ${trap} 2>/dev/full`)).code, 1);
    assertEquals(ending(bed), ["failed", 1, "trap"]);
    const probe = await warmGuest(bed, "probe");
    const source = 'printError(JSON.stringify(attempt(() => print("x")))); exit(0)';
    const { stderr } = await runInShell(bed, `$boll run ${probe} -- '${source}' >/dev/full`);
    assertStringIncludes(stderr, "last-operation-failed");
    const version = await runInShell(bed, "$boll version >/dev/full");
    assertEquals([version.code, version.stderr.startsWith("boll: Write stdout: No space left")], [1, true]);
  },
);
