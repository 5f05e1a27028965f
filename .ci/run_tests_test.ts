import { assertEquals } from "@std/assert";
import { readCounts, unitsFor, verdict } from "./run_tests.ts";

Deno.test("readCounts reads deno's summary, with colors, steps and ignored tests, and nothing else", () => {
  assertEquals(readCounts("a ... ok (1ms)\n\nok | 3 passed | 0 failed (8ms)\n\n"), { passed: 3, failed: 0 });
  assertEquals(readCounts("\u001b[32mok\u001b[0m | 12 passed (3 steps) | 0 failed | 1 ignored (2s)"), {
    passed: 12,
    failed: 0,
  });
  assertEquals(readCounts("FAILED | 1 passed (1 step) | 2 failed (1 step) (8ms)\nerror: Test failed"), {
    passed: 1,
    failed: 2,
  });
  assertEquals(readCounts("a test printed: ok | 9 passed | 0 failed\nerror: no test module"), undefined);
  assertEquals(readCounts(""), undefined);
});

Deno.test("verdict is zero only when tests ran and none failed", () => {
  assertEquals(verdict({ passed: 1, failed: 0 }, 0), 0);
  assertEquals(verdict({ passed: 0, failed: 0 }, 0), 1);
  assertEquals(verdict({ passed: 5, failed: 1 }, 0), 1);
  assertEquals(verdict(undefined, 0), 1);
  assertEquals(verdict({ passed: 5, failed: 0 }, 3), 3);
});

Deno.test("unitsFor: where there are cores for it many, which together leave nothing out and nothing twice", () => {
  const units = unitsFor([], 2).flat();
  assertEquals(new Set(units).size, units.length);
  assertEquals(["src", ".ci", "capsules"].every((folder) => units.includes(folder)), true);
  const files = [
    "tests",
    ...[...Deno.readDirSync("tests")].filter(({ isDirectory }) => isDirectory)
      .map(({ name }) => `tests/${name}`),
  ].flatMap(testsOf);
  for (const file of files) {
    assertEquals(units.filter((path) => file === path || file.startsWith(`${path}/`)).length, 1, file);
  }
  assertEquals(unitsFor([], 1), [[]]);
  assertEquals(unitsFor(["src/wasi"], 8), [["src/wasi"]]);
});

function testsOf(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => `${folder}/${name}`)
    .filter((path) => path.endsWith("_test.ts"));
}
