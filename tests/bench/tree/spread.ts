import { percentile } from "../timing.ts";
import type { Spread } from "./setup.ts";

/** Median and the worst but one in a hundred. @throws RangeError for none */
export function spreadOf(samples: readonly number[]): Spread {
  return { p50: percentile(samples, 50), p99: percentile(samples, 99) };
}
