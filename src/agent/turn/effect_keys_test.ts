import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { EffectKeys } from "./effect_keys.ts";

Deno.test("EffectKeys: a replay has the same ones, another call or another turn never", () => {
  const [first, replay] = [new EffectKeys("ctx/1"), new EffectKeys("ctx/1")];
  const key = first.of("pay", { to: "a" });
  assertMatch(key!, /^ctx\/1\/[0-9a-f]{32}\/1$/);
  const again = first.of("pay", { to: "a" });
  assertNotEquals(again, key);
  const other = first.of("pay", { to: "b" });
  assertEquals([replay.of("pay", { to: "b" }), replay.of("pay", { to: "a" }), replay.of("pay", { to: "a" })], [
    other,
    key,
    again,
  ]);
  assertNotEquals(first.of("pay2", { to: "b" }), other);
  assertNotEquals(new EffectKeys("ctx/2").of("pay", { to: "a" }), key);
  assertEquals(new EffectKeys("").of("pay", {}), undefined);
});
