import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Buffer } from "node:buffer";
import { join } from "@std/path";
import { Bed, forEachMode, REPOSITORY } from "../harness.ts";
import { type Observation, tryAsGuest, tryInjected } from "./arena.ts";
import type { Attempt } from "./attempt.ts";
import { ownFiles, plantedLink, systemFile } from "./file_attempts.ts";
import { judgeEscape, type Sighting, tryEscapes } from "./judge.ts";
import { exec, inheritedEnvironment } from "./process_attempts.ts";
import { toMarkdown } from "./markdown.ts";
import { NET_ESCAPES, NET_WALL_NAMES } from "./network_table.ts";
import { type Escape, ESCAPES, WALL_NAMES } from "./table.ts";
import { buildVariant, startBundler } from "./variant/build.ts";

await startBundler();

// Attempts are made once as whoever runs the tests, and, where that is root, once more as nobody.
const USERS = Deno.uid() === 0 ? ["root", "nobody"] as const : ["user"] as const;

const beds = new Map<string, Bed>();
let bed: Bed;
let variant: string;
const sightings = new Map<string, Map<Escape, Sighting>>();

Deno.test.beforeAll(async () => {
  variant = await buildVariant();
  for (const user of USERS) {
    beds.set(user, new Bed("binary"));
    const who = user === "nobody" ? { asNobody: true } as const : {};
    sightings.set(user, await tryEscapes({ bed: beds.get(user)!, variant, ...who }, ESCAPES));
  }
  bed = beds.get(USERS[0])!;
});
Deno.test.afterAll(async () => {
  for (const bed of beds.values()) await bed[Symbol.asyncDispose]();
});

for (const user of USERS) {
  for (const escape of ESCAPES) {
    Deno.test(`escape: as ${user}: ${escape.name}: each wall alone does what the table says [binary]`, () => {
      assertEquals(judgeEscape(escape, sightings.get(user)!.get(escape)!), []);
    });
  }
}

const attemptsHeldBy = (wall: number) =>
  ESCAPES.filter(({ walls }) => walls[wall - 1]!.holds).map(({ attempt }) => attempt);

/** The routes that got out of each attempt; of a sound one none. */
function routesOut(seen: readonly Observation[]): string[][] {
  return seen.map(({ results: { twin: _, ...routes } }) =>
    Object.keys(routes).filter((name) => routes[name] === "out")
  );
}

Deno.test("escape: without a folder the guest has no thread of its own, and walls 2 and 4 hold there too [binary]", async () => {
  for (const wall of [2, 4]) {
    const stage = { bed, variant: { path: variant, walls: String(wall) }, withoutFolders: true } as const;
    const attempts = attemptsHeldBy(wall).filter(({ isSwapped }) => !isSwapped); // there is no folder to swap names in
    const seen = await tryInjected(stage, attempts);
    assertEquals(routesOut(seen), attempts.map(() => []), `wall ${wall}`);
    assertEquals(seen.flatMap(({ changed }) => changed), []);
  }
  const stage = { bed, variant: { path: variant, walls: "24" }, withoutFolders: true } as const;
  const [environment] = await tryInjected(stage, [inheritedEnvironment]);
  assertEquals(environment!.results.twin, "out");
});

Deno.test("escape: of wall 4 the cell's own layer holds alone; the supervisor's leaves it this executable [binary]", async () => {
  const outBehind = async (attempts: readonly Attempt[], walls: string) => {
    const seen = await tryInjected({ bed, variant: { path: variant, walls } }, attempts);
    assertEquals(seen.map(({ results }) => results.twin), attempts.map(() => "out"));
    return routesOut(seen);
  };
  const held = attemptsHeldBy(4);
  assertEquals(await outBehind(held, "c"), held.map(() => []));
  const [system, planted, own, started] = await outBehind([systemFile, plantedLink, ownFiles, exec], "s");
  assertEquals([system, planted, own], [[], [], []]);
  // Without seccomp the kernel looks for programs, and finds this one alone.
  assertEquals(started!.filter((route) => ["deno", "spawn", "node", "itself", "libc"].includes(route)), ["itself"]);
});

Deno.test("escape: a table that says anything else is found out [binary]", () => {
  const [system] = ESCAPES;
  const judge = (at: number, holds: boolean) => {
    const walls = system!.walls.map((wall, other) => (other === at ? { ...wall, holds } : wall));
    const said = { ...system!, walls: walls as unknown as Escape["walls"] };
    return judgeEscape(said, sightings.get(USERS[0])!.get(system!)!).join();
  };
  assertStringIncludes(judge(3, false), "behind wall 4 kernel alone was held");
  assertStringIncludes(judge(2, true), "behind wall 3 process alone got out: deno");
});

Deno.test("escape: the product has no switch that leaves a wall out; the variant has it", () => {
  const has = (path: string) => Buffer.from(Deno.readFileSync(path)).includes("standing-walls");
  assertEquals([has(variant), has(bed.command([])[0]!)], [true, false]);
});

Deno.test("escape: from source a guest gets out by no route that wall 1 holds, and every allowed twin works", async () => {
  await using bed = new Bed("source");
  // There is no kernel wall from source.
  const held = ESCAPES.filter(({ walls, beyondWallOne }) => walls[0].holds || beyondWallOne);
  const seen = await tryAsGuest({ bed }, held.map(({ attempt }) => attempt));
  assertEquals(routesOut(seen), held.map(() => []));
  assertEquals(seen.map(({ results, changed }) => [results.twin, changed]), held.map(() => ["out", []]));
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

Deno.test("escape: every attempt is stopped by two walls at least, or says why only one of them can", () => {
  for (const { name, walls, onlyOne } of ESCAPES) {
    const holding = walls.filter(({ holds }) => holds).length;
    assert(onlyOne === undefined ? holding >= 2 : holding === 1, name);
  }
});

Deno.test("escape: docs/walls.md has the table as it is tested, and nothing else of its kind", () => {
  const page = Deno.readTextFileSync(join(REPOSITORY, "docs", "walls.md"));
  const [, section = ""] = page.split("## Escapes that are tried\n");
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
    await tryInjected({ bed, variant: { path: variant, walls: "1234" } }, [posts(count)]);
    assertEquals(bed.trace().filter(({ event }) => event === "denied").length, told);
  }
});
