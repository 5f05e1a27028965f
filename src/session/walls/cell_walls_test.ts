import { assertEquals, assertThrows } from "@std/assert";
import { CapsuleError, type Containment } from "../../base/mod.ts";
import { checkWalls, wallsEvent } from "./cell_walls.ts";
import type { LaunchPlan } from "../plan.ts";

function planned(achieved: Containment): LaunchPlan {
  return { containment: { achieved, reasons: [] } } as unknown as LaunchPlan;
}

const UP = { landlock: true, seccomp: true, abi: 7, worker: true };

Deno.test("checkWalls: what was promised must stand, and nothing more is asked", () => {
  checkWalls(UP, planned("scoped"));
  checkWalls({ ...UP, landlock: false, seccomp: false }, planned("advisory"));
  for (const missing of [{ landlock: false }, { seccomp: false }, { landlock: false, seccomp: false }]) {
    const error = assertThrows(() => checkWalls({ ...UP, ...missing }, planned("scoped")), CapsuleError);
    assertEquals(error.code, "hull.failed");
  }
});

Deno.test("wallsEvent: says what the cell raised", () => {
  assertEquals(wallsEvent(UP), { permissions: "lists", landlock: true, landlock_abi: 7, seccomp: true });
  assertEquals(wallsEvent({ ...UP, worker: false }).permissions, "revoked");
});
