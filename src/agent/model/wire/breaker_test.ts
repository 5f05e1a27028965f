import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  admit,
  type Breaker,
  callOff,
  CLOSED,
  countFailure,
  FAILURES_TO_OPEN,
  FIRST_COOL_DOWN_MS,
  MAX_COOL_DOWN_MS,
} from "./breaker.ts";

const closed = (failures: number): Breaker => ({ kind: "closed", failures });
const open = (untilMs: number, coolDownMs = 5_000): Breaker => ({ kind: "open", untilMs, coolDownMs });
const probing = (coolDownMs = 5_000): Breaker => ({ kind: "probing", coolDownMs });

Deno.test("breaker: the full matrix of states and what happens to them, at 1 000 ms", () => {
  const states = [
    closed(0),
    closed(1),
    closed(2),
    open(1_001),
    open(1_000),
    probing(),
    probing(40_000),
    probing(60_000),
  ];
  const rows = states.map((state) => [
    admit(state, 1_000),
    countFailure(state, 1_000),
    countFailure(state, 1_000, 31_000),
    callOff(state, 1_000),
  ]);
  const go = (breaker: Breaker) => ({ isAdmitted: true, breaker });
  assertEquals(rows, [
    [go(closed(0)), closed(1), open(32_000, 31_000), closed(0)],
    [go(closed(1)), closed(2), open(32_000, 31_000), closed(1)],
    [go(closed(2)), open(6_000), open(32_000, 31_000), closed(2)],
    [{ isAdmitted: false, untilMs: 1_001 }, open(1_001), open(1_001), open(1_001)],
    [go(probing()), open(1_000), open(1_000), open(1_000)],
    [{ isAdmitted: false }, open(11_000, 10_000), open(32_000, 31_000), open(1_000)],
    [{ isAdmitted: false }, open(61_000, 60_000), open(61_000, 60_000), open(1_000, 40_000)],
    [{ isAdmitted: false }, open(61_000, 60_000), open(61_000, 60_000), open(1_000, 60_000)],
  ]);
});

Deno.test("breaker: the cool-down doubles from 5 s to 60 s, with one probe at the end of each", () => {
  let breaker = [1, 2, 3].reduce((state) => countFailure(state, 0), CLOSED);
  const coolDowns: number[] = [];
  for (let nowMs = 0; coolDowns.length < 6;) {
    assert(breaker.kind === "open");
    coolDowns.push(breaker.coolDownMs);
    assert(!admit(breaker, nowMs + breaker.coolDownMs - 1).isAdmitted);
    nowMs += breaker.coolDownMs;
    const admission = admit(breaker, nowMs);
    assert(admission.isAdmitted && !admit(admission.breaker, nowMs).isAdmitted);
    breaker = countFailure(admission.breaker, nowMs);
  }
  assertEquals(coolDowns, [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
});

Deno.test("breaker: whatever happens, it opens only after failures, rests within its bounds, and lets one probe through", () => {
  const event = fc.record({ kind: fc.constantFrom("fail", "rest", "answer", "call_off"), waitMs: fc.nat(70_000) });
  fc.assert(fc.property(fc.array(event), (events) => {
    let [breaker, nowMs, inARow]: [Breaker, number, number] = [CLOSED, 0, 0];
    for (const { kind, waitMs } of events) {
      nowMs += waitMs;
      const admission = admit(breaker, nowMs);
      if (!admission.isAdmitted) {
        assert(breaker.kind === "open" && breaker.untilMs - nowMs <= MAX_COOL_DOWN_MS && inARow > 0);
        continue;
      }
      breaker = admission.breaker;
      if (breaker.kind === "probing") assert(!admit(breaker, nowMs + 1e9).isAdmitted);
      if (kind === "answer") [breaker, inARow] = [CLOSED, 0];
      else if (kind === "call_off") breaker = callOff(breaker, nowMs);
      else [breaker, inARow] = [countFailure(breaker, nowMs, kind === "rest" ? 35_000 : undefined), inARow + 1];
      if (breaker.kind === "open") assert(breaker.coolDownMs >= FIRST_COOL_DOWN_MS);
      if (inARow >= FAILURES_TO_OPEN) assert(breaker.kind !== "closed");
    }
  }));
});
