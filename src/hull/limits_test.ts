import { assertEquals, assertThrows } from "@std/assert";
import { toResourceLimits } from "./limits.ts";

Deno.test("toResourceLimits: what is absent is unchanged, core dumps are always off", () => {
  assertEquals(toResourceLimits({}), [{ resource: 4, soft: 0n, hard: 0n }]);
  assertEquals(toResourceLimits({ cpuSeconds: 3, fileBytes: 2 ** 32, dataBytes: 5, openFiles: 6 }).slice(1), [
    { resource: 0, soft: 3n, hard: 4n },
    { resource: 1, soft: 2n ** 32n, hard: 2n ** 32n },
    { resource: 2, soft: 5n, hard: 5n },
    { resource: 7, soft: 6n, hard: 6n },
  ]);
});

Deno.test("toResourceLimits: one is a limit; zero, fractions and more than a safe integer are not", () => {
  assertEquals(toResourceLimits({ cpuSeconds: 1 }).length, 2);
  for (const cpuSeconds of [0, -1, 0.5, 2 ** 53, NaN]) assertThrows(() => toResourceLimits({ cpuSeconds }), RangeError);
});
