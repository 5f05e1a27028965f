import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type Findings, writeReport } from "./report.ts";
import { TARGETS } from "./target.ts";

const timing = (name: string, medianMs: number) => ({ name, runs: 3, medianMs, minMs: medianMs, maxMs: medianMs });

const service = (name: string, requestsPerSecond: number) => ({
  name,
  startToFirstByteMs: 100,
  firstRequestMs: 10,
  warmFirstByteMs: 1,
  loads: [1, 16].map((connections) => ({ connections, requestsPerSecond, p50Ms: 1, p99Ms: 2 })),
});

const FINDINGS: Findings = {
  machine: { processor: "p", cores: 2, memoryGib: 8, system: "linux", deno: "2" },
  peers: { kind: "installed", folder: "/f", node: "/n", jco: "/j", versions: "jco 1" },
  startUp: [
    timing("empty", 10),
    { ...timing("hello", 41), target: { compared: "of empty", target: TARGETS.run } },
    { ...timing("jco run", 410), target: { compared: "of boll", target: TARGETS.jcoRun } },
  ],
  operations: [{ name: "stat path", guestUs: 3, directUs: 2, shimUs: 27 }],
  services: [service("alone", 1000), service("boll", 250)],
  outgoing: [{ parallel: 16, guestPerSecond: 100, fetchPerSecond: 450 }],
};

const row = (page: string, start: string) => page.split("\n").filter((line) => line.startsWith(`| ${start} |`));

Deno.test("writeReport puts each ratio beside its target, met or missed", () => {
  const page = writeReport(FINDINGS);
  assertEquals(row(page, "hello"), ["| hello | 3 | 41.0 | 41.0 – 41.0 | 4.10 | 1.00 | ≤ 4: missed × empty |"]);
  assertEquals(row(page, "jco run"), ["| jco run | 3 | 410.0 | 410.0 – 410.0 | 41.00 | 10.00 | ≥ 8: met × boll |"]);
  assertEquals(row(page, "stat path"), ["| stat path | 3.0 | 2.0 | 1.50 | ≤ 2: met | 27.0 | 9.0 | ≥ 10: missed |"]);
  assertEquals(row(page, "boll"), [
    ...Array(2).fill("| boll | 250 | 1.00 | 2.00 | 4.0 |"),
    "| boll | 100 | 10.00 | 1.00 |",
  ]);
  assertEquals(row(page, "16"), ["| 16 | 100 | 450 | 4.5 |"]);
});

Deno.test("writeReport says why there are no peers, and has no column for them", () => {
  const operations = [{ name: "stat path", guestUs: 3, directUs: 2 }];
  const page = writeReport({ ...FINDINGS, operations, peers: { kind: "absent", reason: "npm is not installed" } });
  assertStringIncludes(page, "No other tool was measured, and no target against one judged: npm is not installed.");
  assertEquals(row(page, "stat path"), ["| stat path | 3.0 | 2.0 | 1.50 | ≤ 2: met |"]);
  assertMatch(page, /\| operation \| guest µs \| direct µs \| × direct \| target \|\n/);
});

Deno.test("writeReport leaves out a part that was not measured", () => {
  const { services: _, outgoing: __, ...some } = FINDINGS;
  const heads = writeReport(some).split("\n").filter((line) => line.startsWith("#"));
  assertEquals(heads, ["# Benchmarks", "## A foreground run", "## File operations"]);
});
