import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { Bed, forEachMode, REPOSITORY } from "../harness.ts";
import { tryAsGuest } from "./arena.ts";
import { judgeEscape } from "./judge.ts";
import { toMarkdown } from "./markdown.ts";
import { ESCAPES } from "./table.ts";
import { buildVariant, startBundler } from "./variant/build.ts";

await startBundler();

// One home for all: the guests are built in it once.
let bed: Bed;
let variant: string;

Deno.test.beforeAll(async () => {
  variant = await buildVariant();
  bed = new Bed("binary");
});
Deno.test.afterAll(async () => await bed?.[Symbol.asyncDispose]());

for (const escape of ESCAPES) {
  Deno.test(`escape: ${escape.name}: each wall alone does what the table says [binary]`, async () => {
    assertEquals(await judgeEscape({ bed, variant }, escape), []);
  });
}

Deno.test("escape: from source a guest gets out by no route, and every allowed twin works", async () => {
  await using bed = new Bed("source");
  for (const { name, attempt } of ESCAPES) {
    const { results: { twin, ...routes }, changed } = await tryAsGuest({ bed }, attempt);
    assertEquals([twin, changed], ["out", []], name);
    assertEquals(Object.entries(routes).filter(([, result]) => result === "out"), [], name);
  }
});

forEachMode(
  "escape: an import that runs programs is refused before the run; one that is granted is not",
  async (bed) => {
    const refused = await bed.guest("wants_evil");
    assertEquals([refused.code, refused.stdout], [5, ""], refused.stderr);
    assertStringIncludes(refused.stderr, "evil:thing/x");
    assertEquals((await bed.guest("wants_clocks")).code, 0);
  },
);

Deno.test("escape: every attempt is stopped by one wall at least, and by two unless only the kernel sees it", () => {
  for (const { name, walls, beyondWallOne } of ESCAPES) {
    assert(walls.filter(({ holds }) => holds).length >= (beyondWallOne ? 1 : 2), name);
  }
});

Deno.test("escape: the README has the table as it is tested, and nothing else of its kind", () => {
  const readme = Deno.readTextFileSync(join(REPOSITORY, "README.md"));
  const [, section = ""] = readme.split("### Escapes that are tried\n");
  const [own = ""] = section.split(/\n##+ /);
  const table = own.split("\n").filter((line) => line.startsWith("|")).join("\n");
  assertEquals(table, toMarkdown(ESCAPES));
});
