import { assertEquals } from "@std/assert";
import { IntelHealth } from "./intel_health.ts";

Deno.test("IntelHealth: only entering and leaving all-down is a change, and the dead are forgotten", () => {
  const health = new IntelHealth();
  const active = { index: 1, transport: "https" };
  assertEquals(health.latch("0", { all_down: false, active }), false);
  assertEquals([health.latch("0", { all_down: true }), health.latch("0", { all_down: true })], [true, false]);
  assertEquals([health.latch("0.1", { all_down: true }), health.down], [true, ["0", "0.1"]]);
  assertEquals([health.latch("0", { all_down: false, active }), health.down], [true, ["0.1"]]);
  assertEquals([health.of("0"), health.of("0.2")], [{ all_down: false, active }, undefined]);
  health.forget("0.1");
  assertEquals(health.down, []);
});
