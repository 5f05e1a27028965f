import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { collectGarbage, openHome, tryTakeBuildTurn } from "../mod.ts";

const [KEY, OTHER] = ["a".repeat(64), "b".repeat(64)] as const;

function withCache(run: (cache: string, gc: () => number) => void): void {
  const folder = Deno.makeTempDirSync();
  try {
    const home = openHome((name) => name === "BOLL_HOME" ? `${folder}/home` : undefined);
    run(home.cache, () => collectGarbage(home, { runtimeFolder: folder }).leftovers.removed);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

Deno.test("tryTakeBuildTurn: one at a time for each key, and nothing is left of a turn", () =>
  withCache((cache) => {
    {
      using first = tryTakeBuildTurn(cache, KEY);
      assert(first !== undefined);
      Deno.writeTextFileSync(`${first.folder}/half`, "");
      assertEquals(tryTakeBuildTurn(cache, KEY), undefined);
      using other = tryTakeBuildTurn(cache, OTHER);
      assertNotEquals(other?.folder, first.folder);
    }
    assertEquals([...Deno.readDirSync(cache)], []);
    using again = tryTakeBuildTurn(cache, KEY);
    assertEquals([...Deno.readDirSync(again!.folder)], []);
  }));

Deno.test("tryTakeBuildTurn: what one left who died is in nobody's way, and goes with gc; a living one's stays", () =>
  withCache((cache, gc) => {
    const place = `${cache}/.build-${KEY}`;
    Deno.mkdirSync(`${place}/dead`, { recursive: true });
    Deno.writeTextFileSync(`${place}/dead/half`, "");
    {
      using turn = tryTakeBuildTurn(cache, KEY);
      assertEquals([...Deno.readDirSync(turn!.folder)], []);
      assertEquals(gc(), 0);
      assert(Deno.statSync(turn!.folder).isDirectory);
    }
    Deno.mkdirSync(`${place}/dead`, { recursive: true });
    assertEquals(gc(), 1);
    assertEquals([...Deno.readDirSync(cache)], []);
  }));
