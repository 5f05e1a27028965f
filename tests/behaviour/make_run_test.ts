import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Bed, REPOSITORY } from "../harness.ts";

const { DENO_DIR, HOME = "", PATH = "" } = Deno.env.toObject();

Deno.test("make run: a sample delegates to another, without a question, and what became of both is drawn", async () => {
  await using bed = new Bed("source");
  const command = new Deno.Command("make", {
    args: ["run"],
    cwd: REPOSITORY,
    clearEnv: true,
    // What is fetched and built is the developer's; what is run is the test's.
    env: { ...bed.environment({ PATH, HOME }), ...(DENO_DIR === undefined ? {} : { DENO_DIR }) },
    stdin: "null",
  });
  const { code, stdout: bytes, stderr } = await command.output();
  const stdout = new TextDecoder().decode(bytes);
  assertEquals(code, 0, `${stdout}\n${new TextDecoder().decode(stderr)}`);
  assertMatch(stdout, /^\[delegate-task\] delegation dlg_[0-9a-f]{32} to word-count@0\.1\.0 ended ok:$/m);
  assertMatch(stdout, /^<untrusted-content source=delegation:word-count>$/m);
  assertMatch(stdout, /^\d+ files: \d+ lines, \d+ words, \d+ bytes\. Report: \/workdir\/report\.txt$/m);
  assertMatch(stdout, /^relay 0\.1\.0 {2}completed {2}.*\n│ {2}\/workdir rw; \/docs ro; spawn word-count$/m);
  assertMatch(
    stdout,
    /^└─ word-count 0\.1\.0 {2}ok {2}.* {2}answered \d+ bytes {2}ses_.*\n {6}\/workdir rw; \/data ro$/m,
  );
  assertStringIncludes(stdout, "walls            imports, permissions");
  assertEquals(bed.sessions().length, 2);
});

Deno.test("README: its tour runs what `make run` does", () => {
  const readme = Deno.readTextFileSync(`${REPOSITORY}/README.md`);
  const recipe = Deno.readTextFileSync(`${REPOSITORY}/Makefile`).split(/^run:/m)[1]!.split("\n\n")[0]!;
  const commands = [...recipe.matchAll(/boll ((?:lock|run|trace tree).*)$/gm)].map(([, words]) => words!);
  assertEquals(commands.length, 3);
  for (const words of commands) assertStringIncludes(readme, `$ boll ${words}`);
});
