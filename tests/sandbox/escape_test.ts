import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Buffer } from "node:buffer";
import { join } from "@std/path";
import { Bed, forEachMode, REPOSITORY } from "../harness.ts";
import { tryAsGuest, tryInjected } from "./arena.ts";
import type { Attempt } from "./attempt.ts";
import { ownFiles, plantedLink, systemFile } from "./file_attempts.ts";
import { judgeEscape } from "./judge.ts";
import { exec, inheritedEnvironment } from "./process_attempts.ts";
import { toMarkdown } from "./markdown.ts";
import { NET_ESCAPES, NET_WALL_NAMES } from "./network_table.ts";
import { type Escape, ESCAPES, WALL_NAMES } from "./table.ts";
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

Deno.test("escape: without a folder the guest has no thread of its own, and walls 2 and 4 hold there too [binary]", async () => {
  for (const { name, attempt, walls } of ESCAPES) {
    for (const wall of [2, 4].filter((wall) => walls[wall - 1]!.holds)) {
      const stage = { bed, variant: { path: variant, walls: String(wall) }, withoutFolders: true } as const;
      const { results: { twin, ...routes }, changed } = await tryInjected(stage, attempt);
      assertEquals(Object.keys(routes).filter((route) => routes[route] === "out"), [], `${name}, wall ${wall}`);
      assertEquals(changed, []);
      if (attempt === inheritedEnvironment) assertEquals(twin, "out");
    }
  }
});

Deno.test("escape: of wall 4 the cell's own layer holds alone; the supervisor's leaves it this executable [binary]", async () => {
  const routesOut = async (attempt: Attempt, walls: string) => {
    const { results: { twin, ...routes } } = await tryInjected({ bed, variant: { path: variant, walls } }, attempt);
    assertEquals(twin, "out");
    return Object.keys(routes).filter((route) => routes[route] === "out");
  };
  for (const { name, attempt, walls } of ESCAPES) {
    if (walls[3].holds) assertEquals(await routesOut(attempt, "c"), [], name);
  }
  assertEquals(await routesOut(systemFile, "s"), []);
  assertEquals(await routesOut(plantedLink, "s"), []);
  assertEquals(await routesOut(ownFiles, "s"), []);
  assertEquals(await routesOut(exec, "s"), ["itself"]);
});

Deno.test("escape: a table that says anything else is found out [binary]", async () => {
  const [system] = ESCAPES;
  const judge = (at: number, holds: boolean) => {
    const walls = system!.walls.map((wall, other) => (other === at ? { ...wall, holds } : wall));
    return judgeEscape({ bed, variant }, { ...system!, walls: walls as unknown as Escape["walls"] });
  };
  assertStringIncludes((await judge(3, false)).join(), "behind wall 4 kernel alone was held");
  assertStringIncludes((await judge(2, true)).join(), "behind wall 3 process alone got out: deno");
});

Deno.test("escape: the product has no switch that leaves a wall out; the variant has it", () => {
  const has = (path: string) => Buffer.from(Deno.readFileSync(path)).includes("standing-walls");
  assertEquals([has(variant), has(bed.command([])[0]!)], [true, false]);
});

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
  assertEquals(table, [toMarkdown(WALL_NAMES, ESCAPES), toMarkdown(NET_WALL_NAMES, NET_ESCAPES)].join("\n"));
});

Deno.test("escape: a flood of forged denials leaves a hundred in the trace; one denial is told [binary]", async () => {
  const posts = (count: number): Attempt => ({
    guest: {},
    guestTwin: () => true,
    injected: {},
    injectedTwin: new Function(
      `for (let at = 0; at < ${count}; at++) {
        postMessage({ kind: "denied", denial: { grant: "fs", asked: "open " + at, allow: "none" } });
      }
      return true;`,
    ) as () => unknown,
  });
  for (const [count, told] of [[1, 1], [10_000, 100]] as const) {
    await tryInjected({ bed, variant: { path: variant, walls: "1234" } }, posts(count));
    assertEquals(bed.trace().filter(({ event }) => event === "denied").length, told);
  }
});
