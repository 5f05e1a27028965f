import { assert, assertEquals } from "@std/assert";
import { countFailure, CRASH_WEIGHT, NO_FAILURES, type RestartState, SPAWN_CRASH_WEIGHT } from "./restart.ts";

/** Verdicts of failures at the given times, with the delays or the weight at which the breaker opened. */
function verdicts(times: readonly number[], weight = CRASH_WEIGHT, random = 0): (number | string)[] {
  let state: RestartState = NO_FAILURES;
  return times.map((atMs) => {
    const counted = countFailure(state, { atMs, weight, random });
    state = counted.state;
    return counted.verdict.kind === "open" ? `open at ${counted.verdict.weight}` : counted.verdict.delayMs;
  });
}

Deno.test("countFailure: the delay doubles, and the breaker opens at weight 5 within a minute", () => {
  assertEquals(verdicts([0, 1, 2, 3, 4, 5]), [500, 1_000, 2_000, 4_000, "open at 5", "open at 6"]);
  assertEquals(verdicts([0, 1], SPAWN_CRASH_WEIGHT), [500, "open at 6"]);
});

Deno.test("countFailure: what is a minute old no longer counts, 1 ms less still does", () => {
  assertEquals(verdicts([0, 1, 2, 3, 59_999]).at(-1), "open at 5");
  assertEquals(verdicts([0, 1, 2, 3, 60_000]).at(-1), 8_000);
});

Deno.test("countFailure: failures 20 s apart never open it; the delay ends at 30 s; a calm minute sets it back", () => {
  const slow = Array.from({ length: 9 }, (_, i) => i * 20_000);
  assertEquals(verdicts(slow), [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  assertEquals(verdicts([...slow, slow.at(-1)! + 60_000]).at(-1), 500);
});

Deno.test("countFailure: the jitter adds at most a quarter", () => {
  assertEquals(verdicts([0, 1, 2], CRASH_WEIGHT, 0.5), [562, 1_125, 2_250]);
  const [longest] = verdicts([0], CRASH_WEIGHT, 0.999_999);
  assert((longest as number) <= 625);
});
