import { HOSTED } from "./hosted.ts";
import { Pollable } from "./pollable.ts";

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** `datetime` of `wasi:clocks/wall-clock`. */
export interface Datetime {
  readonly seconds: bigint;
  readonly nanoseconds: number;
}

/** A time in ms since 1970 as a datetime; `undefined` where WASI cannot say it (before 1970, not a number). */
export function datetimeOf(ms: number): Datetime | undefined {
  if (!(ms >= 0 && ms <= Number.MAX_SAFE_INTEGER)) return undefined;
  const seconds = Math.floor(ms / 1000);
  return { seconds: BigInt(seconds), nanoseconds: Math.floor((ms - seconds * 1000) * 1e6) };
}

/** `wasi:clocks/monotonic-clock` and `wall-clock`. */
export function clockImports(): Record<string, Record<string, unknown>> {
  return {
    "wasi:clocks/monotonic-clock": {
      now: nowNs,
      resolution: () => 1000n,
      subscribeInstant: (when: bigint) => timer(when),
      subscribeDuration: (duration: bigint) => timer(nowNs() + duration),
    },
    "wasi:clocks/wall-clock": {
      now: () => datetimeOf(Date.now()) ?? { seconds: 0n, nanoseconds: 0 },
      resolution: () => ({ seconds: 0n, nanoseconds: 1_000_000 }),
    },
  };
}

function nowNs(): bigint {
  return BigInt(Math.round(performance.now() * 1e6));
}

function timer(endNs: bigint): Pollable {
  if (typeof endNs !== "bigint") throw new TypeError("Subscribe to a clock: found another type than u64");
  return new Pollable(HOSTED, {
    ready: () => nowNs() >= endNs,
    watch(wake) {
      const leftMs = Math.ceil(Number(endNs - nowNs()) / 1e6);
      const id = setTimeout(wake, Math.min(Math.max(leftMs, 0), LONGEST_TIMER_MS));
      return () => clearTimeout(id);
    },
  });
}
