import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { anyGrants } from "./arbitrary_fixture.ts";
import { NO_GRANTS } from "./defaults.ts";
import { assertInside } from "./inside_fixture.ts";
import { callsAtOnce, toolGrants, toolInstances } from "./tool_grants.ts";

const CAPSULE = {
  ...NO_GRANTS,
  fs: { work: "rw" as const, mounts: [{ guest: "/data", mode: "ro" as const, host: "/h" }] },
  env: ["LANG"],
  net: ["https://a.example"],
  spawn: ["worker"],
  random: false,
};

Deno.test("toolGrants: no block is the capsule's, an empty one the least that any capsule has", () => {
  const whole = toolGrants(undefined, CAPSULE);
  assertEquals(whole, { grants: { ...CAPSULE, limits: { ...CAPSULE.limits, deadline_ms: 60_000 } }, dropped: [] });
  const { grants } = toolGrants({}, CAPSULE);
  assertEquals([grants.fs, grants.env, grants.net, grants.spawn], [{ mounts: [] }, [], [], []]);
  assertEquals([grants.stdio, grants.clocks, grants.random], [true, true, false]);
});

Deno.test("toolGrants: what is the capsule's is given, with the capsule's folder; what is not is dropped by name", () => {
  const { grants, dropped } = toolGrants({
    fs: { work: "ro", mounts: [{ guest: "/data", mode: "rw" }, { guest: "/other" }] },
    env: ["LANG", "TZ"],
    net: ["https://a.example", "https://b.example"],
    limits: { deadline_ms: 120_000, memory_mb: 1_024 },
  }, CAPSULE);
  assertEquals(grants.fs, { work: "ro", mounts: [{ guest: "/data", mode: "ro", host: "/h" }] });
  assertEquals([grants.env, grants.net], [["LANG"], ["https://a.example"]]);
  assertEquals([grants.limits.deadline_ms, grants.limits.memory_mb], [120_000, 512]);
  const named = [
    "fs.mounts:/data",
    "fs.mounts:/other",
    "env:TZ",
    "net:https://b.example",
    "random",
    "limits.memory_mb",
  ];
  assertEquals(dropped.map(({ grant }) => grant), named);
});

Deno.test("toolGrants: is inside the capsule's, whatever a block asks for", () => {
  fc.assert(fc.property(anyGrants, anyGrants, (asked, capsule) => {
    const { fs, ...rest } = asked;
    const mounts = fs.mounts.map(({ guest, mode }) => ({ guest, mode }));
    const { grants } = toolGrants({ ...rest, fs: { ...fs, mounts }, limits: asked.limits } as never, capsule);
    assertInside(grants, { ...capsule });
  }));
});

Deno.test("callsAtOnce: eight, no more than fit into 2 GiB, and one where the processor's time is counted", () => {
  const at = (limits: Partial<typeof NO_GRANTS.limits>) => callsAtOnce({ ...NO_GRANTS.limits, ...limits });
  const of = [1, 256, 257, 512, 1_024, 1_025, 2_048, 65_536].map((memory_mb) => at({ memory_mb }));
  assertEquals(of, [8, 8, 7, 4, 2, 1, 1, 1]);
  assertEquals(at({ memory_mb: 64, cpu_seconds: 10 }), 1);
  assertEquals([64, 512, 4_096].map((memory_mb) => toolInstances({ ...NO_GRANTS.limits, memory_mb })), [9, 5, 2]);
});
