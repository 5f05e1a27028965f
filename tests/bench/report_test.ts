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

const spread = (p50: number) => ({ p50, p99: 2 * p50 });
const mib = (count: number) => count * 2 ** 20;

const FINDINGS: Findings = {
  machine: { processor: "p", cores: 2, memoryGib: 8, system: "linux", deno: "2" },
  peers: { kind: "installed", folder: "/f", node: "/n", jco: "/j", versions: "jco 1" },
  startUp: [
    timing("empty", 10),
    { ...timing("hello", 41), target: { compared: "of empty", target: TARGETS.run } },
    { ...timing("jco run", 410), target: { compared: "of boll", target: TARGETS.jcoRun } },
  ],
  operations: [{ name: "stat path", guestUs: 3, directUs: 2, shimUs: 27 }],
  services: [service("alone", 1000), { ...service("boll", 250), warmTarget: TARGETS.liveCall }],
  doors: [
    { name: "the SDK", loads: [{ connections: 1, messagesPerSecond: 1_000 }], firstEventMs: 1, lastEventMs: 2 },
    { name: "the door", loads: [{ connections: 1, messagesPerSecond: 1_500 }], firstEventMs: 0.5, lastEventMs: 1 },
  ],
  served: [{ name: "cat", spareMs: 101.4, atOnceMs: 285, queuedMs: 221.6 }],
  agents: {
    runs: [timing("empty", 30), timing("an answer", 300)],
    turnMs: 2,
    callMs: 6,
    crowd: {
      count: 20,
      oneMs: 400,
      allMs: 4_000,
      wholeMs: 5_000,
      sessionBytes: 20 * 2 ** 20,
      supervisorBytes: 5 * 2 ** 20,
      idleBytes: 10 * 2 ** 20,
    },
  },
  tools: [{ thread: "its own", spacedMs: 2, backToBackMs: 5.5, newCellMs: 300 }],
  outgoing: [{ parallel: 16, guestPerSecond: 100, fetchPerSecond: 450 }],
  starts: {
    runs: 40,
    empty: spread(30),
    up: spread(60),
    ready: spread(151),
    whole: spread(180),
    killed: spread(12),
    cellGone: spread(6),
  },
  crowds: [{
    count: 8,
    emptyMs: 100,
    readyMs: 400,
    idleBytes: mib(100),
    sessionBytes: mib(60),
    cellBytes: mib(100),
    supervisorBytes: mib(50),
  }],
  frames: {
    trips: [
      { name: "a session", atOnce: 1, perSecond: 14_999, isFrames: true },
      { name: "a pipe", atOnce: 1, perSecond: 20_000, isFrames: false },
      { name: "the codec", atOnce: 0, perSecond: 90_000, isFrames: true },
    ],
    eventsPerSecond: 123_456,
  },
  results: { sessions: 10_000, atOnce: 16, lost: 1, eachMs: 5, bareEachMs: 4 },
  fullHome: {
    sessions: 10_000,
    traceBytes: 2 ** 30,
    almostEmpty: timing("almost empty", 100),
    full: timing("full", 105),
  },
};

const row = (page: string, start: string) => page.split("\n").filter((line) => line.startsWith(`| ${start} |`));

Deno.test("writeReport puts each ratio beside its target, met or missed", () => {
  const page = writeReport(FINDINGS);
  assertEquals(row(page, "hello"), ["| hello | 3 | 41.0 | 41.0 – 41.0 | 4.10 | 1.00 | ≤ 4: missed × empty |"]);
  assertEquals(row(page, "jco run"), ["| jco run | 3 | 410.0 | 410.0 – 410.0 | 41.00 | 10.00 | ≥ 8: met × boll |"]);
  assertEquals(row(page, "stat path"), ["| stat path | 3.0 | 2.0 | 1.50 | ≤ 2: met | 27.0 | 9.0 | ≥ 10: missed |"]);
  assertEquals(row(page, "boll"), [
    ...Array(2).fill("| boll | 250 | 1.00 | 2.00 | 4.0 |"),
    "| boll | 100 | 10.00 | 1.00 | ≤ 5: met ms |",
  ]);
  assertEquals(row(page, "16"), ["| 16 | 100 | 450 | 4.5 |"]);
  assertEquals(row(page, "the door"), ["| the door | 1 | 1500 | 1.50 | 0.50 | 1.00 |"]);
  assertEquals(row(page, "cat"), ["| cat | 101 | 285 | 222 |"]);
});

Deno.test("writeReport puts what was found of sessions, frames, results and a full home beside its target", () => {
  const page = writeReport(FINDINGS);
  assertEquals(row(page, "session: ready, its guest about to run"), [
    "| session: ready, its guest about to run | 151.0 | 302.0 | 5.03 | ≤ 5: missed × empty |",
  ]);
  assertEquals(row(page, "8"), [
    "| 8 | 100 | 400 | 4.00 |",
    "| 8 | 100.0 | 60.0 | 100.0 | 50.0 | 0.60 | 1.60 | ≤ 1.5: missed × idle |",
  ]);
  assertEquals(row(page, "a session"), ["| a session | 1 | 14999 | ≥ 15000: missed |"]);
  assertEquals(row(page, "a pipe"), ["| a pipe | 1 | 20000 |  |"]);
  assertEquals(row(page, "the codec"), ["| the codec |  | 90000 | ≥ 15000: met |"]);
  assertStringIncludes(page, "123456 events/s");
  assertStringIncludes(page, "| its own | 2.0 | ≤ 5: met | 5.5 | 300 | 150 |");
  assertEquals(row(page, "10000"), ["| 10000 | 16 | 50.0 | 5.00 | 4.00 | 1.25 | 1 | 0: missed |"]);
  assertEquals(row(page, "10000 sessions"), [
    "| 10000 sessions | 3 | 105.0 | 105.0 – 105.0 | 1.05 | ≤ 1.1: met |",
  ]);
});

Deno.test("writeReport says why there are no peers, and has no column for them", () => {
  const operations = [{ name: "stat path", guestUs: 3, directUs: 2 }];
  const page = writeReport({ ...FINDINGS, operations, peers: { kind: "absent", reason: "npm is not installed" } });
  assertStringIncludes(page, "No other tool was measured, and no target against one judged: npm is not installed.");
  assertEquals(row(page, "stat path"), ["| stat path | 3.0 | 2.0 | 1.50 | ≤ 2: met |"]);
  assertMatch(page, /\| operation \| guest µs \| direct µs \| × direct \| target \|\n/);
});

Deno.test("writeReport leaves out a part that was not measured", () => {
  const { machine, peers, startUp = [], operations = [] } = FINDINGS;
  const heads = writeReport({ machine, peers, startUp, operations }).split("\n").filter((line) => line.startsWith("#"));
  assertEquals(heads, ["# Benchmarks", "## A foreground run", "## File operations"]);
});
