import { assertEquals } from "@std/assert";
import { type Grants, NO_GRANTS } from "../../grants/mod.ts";
import { hasAllOf } from "./has_all_of.ts";

const CAPSULE: Grants = {
  ...NO_GRANTS,
  fs: { work: "rw", mounts: [{ guest: "/src", mode: "ro", host: "/srv/src" }] },
  env: ["LANG"],
  net: ["https://api.example.com"],
  spawn: ["worker"],
};

Deno.test("hasAllOf: limits aside, all of it and in any order", () => {
  assertEquals(hasAllOf({ ...CAPSULE, limits: { ...CAPSULE.limits, deadline_ms: 1 } }, CAPSULE), true);
  const two = { ...CAPSULE, env: ["A", "B"] };
  assertEquals(hasAllOf({ ...two, env: ["B", "A"], limits: { ...two.limits, memory_mb: 1 } }, two), true);
  const less: readonly Partial<Grants>[] = [
    { fs: { mounts: [] } },
    { fs: { ...CAPSULE.fs, work: "ro" } },
    { env: [] },
    { net: [] },
    { spawn: [] },
    { clocks: false },
  ];
  for (const part of less) assertEquals(hasAllOf({ ...CAPSULE, ...part }, CAPSULE), false, JSON.stringify(part));
});
