import { assertEquals } from "@std/assert";
import { summarizeBursts } from "./serving.ts";

Deno.test("summarizeBursts takes the middle rate of the bursts and the percentiles of all their requests", () => {
  const burst = (wholeMs: number[], elapsedMs: number) => ({ wholeMs, firstByteMs: wholeMs, elapsedMs });
  const slow = Array.from({ length: 50 }, (_, index) => index === 0 ? 90 : 3);
  const bursts = [burst(Array(50).fill(1), 50), burst(slow, 500), burst(Array(50).fill(2), 100)];
  assertEquals(summarizeBursts(4, bursts), { connections: 4, requestsPerSecond: 500, p50Ms: 2, p99Ms: 3 });
  assertEquals(summarizeBursts(4, [bursts[1]!]).p99Ms, 90);
});
