import { assertEquals } from "@std/assert";
import { judgeLiveness, LIVENESS_TIMEOUTS, type LivenessFacts, pingIntervalMs } from "./liveness.ts";

const FACTS: LivenessFacts = { channelOpen: true, nowMs: 1_000_000, progressMs: 1_000_000, pongMs: 1_000_000 };

function judge(facts: Partial<LivenessFacts>) {
  return judgeLiveness({ ...FACTS, ...facts });
}

Deno.test("judgeLiveness: exactly at each timeout and 1 ms before", () => {
  const { nowMs } = FACTS;
  assertEquals(judge({ progressMs: nowMs - 119_999, pongMs: 0 }), "healthy");
  assertEquals(judge({ progressMs: nowMs - 120_000, pongMs: nowMs - 9_999 }), "busy");
  assertEquals(judge({ progressMs: nowMs - 120_000, pongMs: nowMs - 10_000 }), "stuck");
  assertEquals(judge({ deadlineMs: nowMs + 1 }), "healthy");
  assertEquals(judge({ deadlineMs: nowMs }), "deadline_exceeded");
});

Deno.test("judgeLiveness: the first that applies, whatever else does", () => {
  for (const channelOpen of [true, false]) {
    for (const late of [true, false]) {
      for (const progress of [true, false]) {
        for (const pong of [true, false]) {
          const verdict = judge({
            channelOpen,
            deadlineMs: late ? 0 : undefined,
            progressMs: progress ? FACTS.nowMs : 0,
            pongMs: pong ? FACTS.nowMs : 0,
          });
          const order = [
            [!channelOpen, "dead"],
            [late, "deadline_exceeded"],
            [progress, "healthy"],
            [pong, "busy"],
            [true, "stuck"],
          ];
          assertEquals(verdict, order.find(([applies]) => applies)![1]);
        }
      }
    }
  }
});

Deno.test("pingIntervalMs: a third of the pong timeout, 50 ms to 5 s", () => {
  assertEquals(pingIntervalMs(LIVENESS_TIMEOUTS), 3_333);
  assertEquals([30, 150, 153, 15_000, 60_000].map((pongMs) => pingIntervalMs({ progressMs: 1, pongMs })), [
    ...[50, 50, 51, 5_000, 5_000],
  ]);
});
