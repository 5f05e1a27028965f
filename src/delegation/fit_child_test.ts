import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "fast-check";
import { CapsuleError } from "../base/mod.ts";
import { DEFAULT_LIMITS, NO_GRANTS } from "../grants/mod.ts";
import { matchesTool } from "../protocol/control/mod.ts";
import { type ChildRequest, fitChild, isToolInside, type Parent } from "./fit_child.ts";

const PARENT: Parent = {
  grants: {
    ...NO_GRANTS,
    fs: { work: "rw", mounts: [{ guest: "/docs", mode: "ro", host: "/h/docs" }] },
    env: ["LANG"],
    net: ["https://api.example.com"],
    spawn: ["worker", "reader"],
  },
  tools: ["files.*", "delegate-task"],
  limits: { max_steps: 20, max_tokens: 1_000, deadline_ms: 900_000, max_depth: 2, memory_bytes: 1_000, nice: 5 },
  depth: 1,
  remainingMs: 400_000,
};

const WORKER: ChildRequest = { capsule: "worker", declared: {} };

const problemsOf = (request: ChildRequest, parent = PARENT) => {
  const error = assertThrows(() => fitChild(request, parent), CapsuleError);
  assertEquals([error.code, error.exitStatus], ["grant.exceeds_ceiling", 5]);
  for (const problem of error.problems) assertStringIncludes(error.message, problem);
  return error.problems.map((problem) => problem.slice(0, problem.indexOf(": ")));
};

Deno.test("fitChild: what nobody asked for is not given, and limits are the parent's, the deadline what it has left", () => {
  assertEquals(fitChild(WORKER, PARENT), {
    grants: { ...NO_GRANTS, limits: { ...DEFAULT_LIMITS, deadline_ms: 400_000 } },
    tools: ["files.*", "delegate-task"],
    limits: { ...PARENT.limits, deadline_ms: 400_000 },
    depth: 2,
  });
  const long = fitChild(WORKER, { ...PARENT, remainingMs: 10_000_000 });
  assertEquals([long.limits.deadline_ms, long.grants.limits.deadline_ms], [600_000, 600_000]);
  const short = fitChild({ ...WORKER, declared: { limits: { deadline_ms: 1_000 } } }, PARENT);
  assertEquals([short.limits.deadline_ms, short.grants.limits.deadline_ms], [1_000, 1_000]);
});

Deno.test("fitChild: all that the parent has may be given on, and one more of any axis is refused by its name", () => {
  const all: ChildRequest = {
    capsule: "reader",
    declared: {
      fs: { work: "rw", mounts: [{ guest: "/in", mode: "ro" }] },
      env: ["LANG"],
      net: ["https://api.example.com"],
      spawn: ["worker", "reader"],
    },
    tools: ["files.read", "files.w*", "delegate-task"],
    limits: { max_steps: 20, max_tokens: 1_000, max_depth: 2, memory_bytes: 1_000, nice: 5, cpu_seconds: 9 },
    mounts: { "/in": "/docs" },
  };
  const child = fitChild(all, PARENT);
  assertEquals(child.limits, { ...PARENT.limits, cpu_seconds: 9, deadline_ms: 400_000 });
  assertEquals(child.grants.fs.mounts, [{ guest: "/in", mode: "ro", host: "/h/docs" }]);
  const { declared, limits } = all;
  const over: readonly [string, ChildRequest, Partial<Parent>?][] = [
    ["spawn other", { ...all, capsule: "other" }],
    ["spawn other", { ...all, declared: { ...declared, spawn: ["other"] } }],
    ["depth 3", all, { depth: 2 }],
    ["fs.work", all, { grants: { ...PARENT.grants, fs: { ...PARENT.grants.fs, work: "ro" } } }],
    ["fs.mounts /in", { ...all, declared: { ...declared, fs: { mounts: [{ guest: "/in", mode: "rw" }] } } }],
    ["env TZ", { ...all, declared: { ...declared, env: ["TZ"] } }],
    ["net https://example.com", { ...all, declared: { ...declared, net: ["https://example.com"] } }],
    ["clocks", all, { grants: { ...PARENT.grants, clocks: false } }],
    ["limits memory_mb", { ...all, declared: { ...declared, limits: { memory_mb: 513 } } }],
    ["limits max_steps", { ...all, limits: { ...limits, max_steps: 21 } }],
    ["limits max_tokens", { ...all, limits: { ...limits, max_tokens: 1_001 } }],
    ["limits max_depth", { ...all, limits: { ...limits, max_depth: 3 } }],
    ["limits memory_bytes", { ...all, limits: { ...limits, memory_bytes: 1_001 } }],
    ["limits nice", { ...all, limits: { ...limits, nice: 4 } }],
    ["limits deadline_ms", all, { remainingMs: 0 }],
    ["tools files*", { ...all, tools: ["files*"] }],
    ["tools *", { ...all, tools: ["*"] }],
  ];
  for (const [named, request, change = {}] of over) {
    assertEquals(problemsOf(request, { ...PARENT, ...change }), [named]);
  }
  assertEquals(fitChild({ ...all, tools: [] }, PARENT).tools, []);
  const { tools: _, ...unbound } = PARENT;
  assertEquals(fitChild({ ...all, tools: ["*"] }, unbound).tools, ["*"]);
});

Deno.test("fitChild: everything that does not fit is in one refusal, safe for a terminal", () => {
  const request: ChildRequest = {
    capsule: "evil\x1b[31m",
    declared: { env: ["A", "LANG"], net: ["https://a.b"], random: true },
    tools: ["x"],
    limits: { max_steps: 500 },
  };
  const parent = { ...PARENT, grants: { ...PARENT.grants, random: false } };
  assertEquals(problemsOf(request, parent), [
    "spawn evil\\u{1b}[31m",
    "env A",
    "net https://a.b",
    "random",
    "tools x",
    "limits max_steps",
  ]);
});

Deno.test("isToolInside: a pattern inside another allows no tool that the other does not", () => {
  const pattern = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 4 });
  const name = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 5 });
  fc.assert(
    fc.property(pattern, fc.array(pattern, { maxLength: 3 }), name, (inner, outer, tool) => {
      if (isToolInside(inner, outer) && matchesTool([inner], tool)) assert(matchesTool(outer, tool));
    }),
    { numRuns: 3_000 },
  );
  assert(isToolInside("ab*", ["a*"]) && isToolInside("a", ["*"]) && isToolInside("ab", ["x", "ab"]));
  assert(!isToolInside("a*", ["ab*"]) && !isToolInside("a*", ["a"]) && !isToolInside("a", []));
});
