import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { forEachMode, REPOSITORY } from "../harness.ts";
import { buildCapsules } from "../../capsules/build.ts";

const HELLO = `${REPOSITORY}/capsules/hello`;
const WORD_COUNT = `${REPOSITORY}/capsules/word-count`;

await buildCapsules(`${REPOSITORY}/capsules`, `${REPOSITORY}/.build/capsules`);

forEachMode("hello: greets, and passes on its exit code and stderr when its arguments are wrong", async (bed) => {
  const plain = await bed.run(["run", HELLO, "--accept"]);
  assertEquals([plain.code, plain.stdout], [0, "Hello, world!\n"]);
  const named = await bed.run(["run", HELLO, "--", "Ada", "2"]);
  assertEquals([named.code, named.stdout], [0, "1. Hello, Ada!\n2. Hello, Ada!\n"]);
  const wrong = await bed.run(["run", HELLO, "--", "Ada", "none"]);
  assertEquals([wrong.code, wrong.stdout], [1, ""]);
  assertStringIncludes(wrong.stderr, `hello: TIMES: found "none"`);
});

forEachMode("hello: a foreign capsule needs --accept once, and nothing runs before", async (bed) => {
  const refused = await bed.run(["run", HELLO]);
  assertEquals([refused.code, refused.stdout], [5, ""]);
  assertStringIncludes(refused.stderr, "--accept");
  assertEquals((await bed.run(["run", HELLO, "--accept"])).code, 0);
  assertEquals((await bed.run(["run", HELLO])).code, 0);
});

forEachMode("word-count: counts the files of its mount as wc does, and writes the report to --work", async (bed) => {
  const data = bed.folder("data", { "b.txt": "one two\nthree\n", "a/c.md": "x", "empty": "" });
  const work = bed.folder("work");
  const result = await bed.run(["run", WORD_COUNT, "--accept", "--mount", `${data}:/data:ro`, "--work", work]);
  assertEquals(result.code, 0, result.stderr);
  assertEquals(result.stdout, "3 files: 2 lines, 4 words, 15 bytes. Report: /workdir/report.txt\n");
  assertEquals(
    Deno.readTextFileSync(`${work}/report.txt`),
    [
      "lines  words  bytes  file",
      "    0      1      1  /data/a/c.md",
      "    2      3     14  /data/b.txt",
      "    0      0      0  /data/empty",
      "    2      4     15  total",
      "",
    ].join("\n"),
  );
});

forEachMode(
  "word-count: without --work the report is in the session's folder; an unbound mount is refused",
  async (bed) => {
    const data = bed.folder("data", { "a.txt": "a b c\n" });
    const result = await bed.run(["run", WORD_COUNT, "--accept", "--mount", `${data}:/data:ro`]);
    assertEquals(result.code, 0, result.stderr);
    assertMatch(Deno.readTextFileSync(`${bed.sessions()[0]}/work/report.txt`), /1 {6}3 {6}6 {2}total/);
    const unbound = await bed.run(["run", WORD_COUNT, "--accept"]);
    assertEquals([unbound.code, unbound.stdout], [5, ""]);
    assertStringIncludes(unbound.stderr, "--mount");
  },
);

forEachMode(
  "reviewer: reads a folder with its tools, has two files summarized by another agent, and answers",
  async (bed) => {
    const lock = await bed.run(["lock", `${REPOSITORY}/capsules`]);
    assertEquals(lock.code, 0, lock.stderr);
    const mount = ["--mount", `${REPOSITORY}/capsules/wasi:/src:ro`];
    const args = ["run", "--accept", "--json", ...mount, `${REPOSITORY}/capsules/reviewer`, "Review the code"];
    const { code, stdout, stderr, lastLine } = await bed.run(args);
    assertEquals(code, 0, stderr);
    assertStringIncludes(stdout, "# Review of /src\n\n## stdio.js\n");
    const report = JSON.parse(lastLine);
    assertEquals([report.status, report.usage.output_tokens], ["completed", 234]);
    assertEquals(bed.sessions().length, 3);
  },
);

forEachMode(
  "summarizer: with a way out for what it reads it is said to be dangerous, and without one it is not",
  async (bed) => {
    const args = ["--mount", `${REPOSITORY}/capsules/wasi:/src:ro`, `${REPOSITORY}/capsules/summarizer`];
    const task = "Summarize /src/text.js";
    const shut = await bed.run(["run", "--accept", ...args, task]);
    assertEquals([shut.code, shut.stdout], [0, "It turns text into UTF-8 bytes, and bytes into text.\n"], shut.stderr);
    assertEquals(shut.stderr.includes("what it reads may make it do so"), false);
    const open = await bed.run(["run", "--net", "https://a.invalid", ...args, task]);
    assertEquals([open.code, open.stdout], [0, shut.stdout], open.stderr);
    assertMatch(
      open.stderr,
      /warning: summarizer reads what others wrote .* and can send it out \(https:\/\/a\.invalid\)/,
    );
  },
);
