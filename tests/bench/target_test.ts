import { assertEquals } from "@std/assert";
import { judge } from "./target.ts";

Deno.test("judge says met at the target and missed beyond it, by the ratio that is not rounded", () => {
  assertEquals(judge(4, { kind: "at most", ratio: 4 }), "≤ 4: met");
  assertEquals(judge(4.001, { kind: "at most", ratio: 4 }), "≤ 4: missed");
  assertEquals(judge(8, { kind: "at least", ratio: 8 }), "≥ 8: met");
  assertEquals(judge(7.999, { kind: "at least", ratio: 8 }), "≥ 8: missed");
  assertEquals(judge(1.001, { kind: "more than", ratio: 1 }), "> 1: met");
  assertEquals(judge(1, { kind: "more than", ratio: 1 }), "> 1: missed");
  for (const ratio of [NaN, Infinity, -Infinity, -1, 0]) {
    assertEquals(judge(ratio, { kind: "at most", ratio: 2 }), "≤ 2: not measured");
    assertEquals(judge(ratio, { kind: "at least", ratio: 8 }), "≥ 8: not measured");
  }
});
