import { assertEquals } from "@std/assert";
import { judge } from "./target.ts";

Deno.test("judge says met at the target and missed beyond it, by what was found and not its rounding", () => {
  assertEquals(judge(4, { kind: "at most", bound: 4 }), "≤ 4: met");
  assertEquals(judge(4.001, { kind: "at most", bound: 4 }), "≤ 4: missed");
  assertEquals(judge(8, { kind: "at least", bound: 8 }), "≥ 8: met");
  assertEquals(judge(7.999, { kind: "at least", bound: 8 }), "≥ 8: missed");
  assertEquals(judge(1.001, { kind: "more than", bound: 1 }), "> 1: met");
  assertEquals(judge(1, { kind: "more than", bound: 1 }), "> 1: missed");
  for (const ratio of [NaN, Infinity, -Infinity, -1, 0]) {
    assertEquals(judge(ratio, { kind: "at most", bound: 2 }), "≤ 2: not measured");
    assertEquals(judge(ratio, { kind: "at least", bound: 8 }), "≥ 8: not measured");
  }
});
