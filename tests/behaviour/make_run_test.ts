import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Bed, REPOSITORY } from "../harness.ts";

const { DENO_DIR, HOME = "", PATH = "" } = Deno.env.toObject();

Deno.test("make run: an agent delegates to another, without a key or a question, and what became of all is drawn", async () => {
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
  assertMatch(stdout, /^# Review of \/src$/m);
  assertMatch(stdout, /^reviewer 0\.1\.0 {2}completed {2}.*\n│ {2}\/src ro; spawn summarizer$/m);
  assertMatch(stdout, /^├─ summarizer 0\.1\.0 {2}ok {2}.* {2}answered \d+ bytes {2}ses_.*\n│ {5}\/src ro$/m);
  assertMatch(stdout, /^└─ summarizer 0\.1\.0 {2}ok {2}.* {2}answered \d+ bytes {2}ses_.*\n {6}\/src ro$/m);
  assertMatch(stdout, /tool_call +read-file ok, /);
  assertStringIncludes(stdout, "walls            imports, permissions");
  assertEquals(bed.sessions().length, 3);
});

Deno.test("README: its tour runs what `make run` does", () => {
  const readme = Deno.readTextFileSync(`${REPOSITORY}/README.md`);
  const recipe = Deno.readTextFileSync(`${REPOSITORY}/Makefile`).split(/^run:/m)[1]!.split("\n\n")[0]!;
  const commands = [...recipe.matchAll(/boll ((?:lock|run|trace tree).*)$/gm)].map(([, words]) => words!);
  assertEquals(commands.length, 3);
  for (const words of commands) assertStringIncludes(readme, `$ boll ${words}`);
});
