import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { type Candidate, differenceUs, interleave, percentile, summarize } from "./timing.ts";

Deno.test("summarize takes the middle of an odd number, the mean of the two middles of an even one", () => {
  assertEquals(summarize("a", [3, 1, 2]), { name: "a", runs: 3, medianMs: 2, minMs: 1, maxMs: 3 });
  assertEquals(summarize("a", [10, 1, 2, 3]), { name: "a", runs: 4, medianMs: 2.5, minMs: 1, maxMs: 10 });
  assertEquals(summarize("a", [5]), { name: "a", runs: 1, medianMs: 5, minMs: 5, maxMs: 5 });
  assertThrows(() => summarize("a", []), RangeError, "found no samples");
});

Deno.test("interleave runs the candidates in turn, one round uncounted, and refuses a failing one", async () => {
  const order: string[] = [];
  const candidate = (name: string, code: number): Candidate => ({
    name,
    program: "/bin/sh",
    args: ["-c", `exit ${code}`],
    prepare: () => order.push(name),
  });
  const timings = await interleave([candidate("a", 0), candidate("b", 0)], 2);
  assertEquals(order.join(""), "ababab");
  assertEquals(timings.map(({ name, runs }) => [name, runs]), [["a", 2], ["b", 2]]);
  const fewer = await interleave([candidate("c", 0), { ...candidate("d", 0), maxRounds: 1 }], 2);
  assertEquals([order.join("").slice(6), fewer.map(({ runs }) => runs)], ["cdcdc", [2, 1]]);
  await assertRejects(() => interleave([candidate("a", 3)], 1), Error, "found exit code 3, wanted 0");
});

Deno.test("percentile takes a sample, the last at 100, and refuses none", () => {
  const samples = Array.from({ length: 200 }, (_, index) => 200 - index);
  assertEquals([1, 50, 99, 99.5, 100].map((percent) => percentile(samples, percent)), [2, 100, 198, 199, 200]);
  assertEquals(percentile([7], 1), 7);
  assertThrows(() => percentile([], 50), RangeError, "found no such sample");
});

Deno.test("differenceUs is the time of one operation beyond a run of none", () => {
  assertEquals(differenceUs(summarize("none", [100]), summarize("all", [140]), 1000), 40);
});
