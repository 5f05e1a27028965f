import { assertEquals } from "@std/assert";
import { brief, CANCEL, command, DRAINED, EXIT, frame, KILLED, Life, outcome, READY, RESULT } from "./child_fixture.ts";
import { verdictOf } from "./child_clock.ts";
import { live } from "./child_matrix_fixture.ts";

Deno.test("warm: the deadline is armed anew with each turn and not at all between two; messages wait for their turn", () => {
  const life = new Life({ warm: true, deadlineMs: 1_000 });
  const inject = command({ kind: "inject", message: "more" });
  const turn = (result: string) => frame({ type: "turn", outcome: outcome({ result }) });
  life.feed(READY, inject);
  assertEquals([life.state.deadlineMs, life.state.turnsQueued], [61_000, 1]);
  life.nowMs = 30_000;
  life.feed(turn("first"));
  assertEquals([life.state.deadlineMs, life.state.turnOpen, life.state.turnsQueued], [91_000, true, 0]);
  life.feed(turn("second"));
  assertEquals([life.state.deadlineMs, life.state.turnOpen], [undefined, false]);
  life.nowMs = 70_000;
  assertEquals([life.feed(inject).map(brief), life.state.deadlineMs], [[">inject", "told:done"], 131_000]);
});

Deno.test("warm: closed between two turns it ends as its last turn did; in a turn it is cancelled, its last result kept", () => {
  const turn = frame({ type: "turn", outcome: outcome({ result: "kept" }) });
  const close = command({ kind: "close" });
  const farewell = frame({ type: "result", outcome: outcome({ status: "cancelled", result: null, partial: true }) });
  for (const inputs of [[EXIT], [farewell, EXIT], [KILLED]]) {
    const idle = new Life({ warm: true });
    idle.feed(READY, turn, close, ...inputs, DRAINED);
    assertEquals([idle.ending.status, idle.ending.ended_by, idle.ending.outcome?.result], [
      "completed",
      "guest",
      "kept",
    ]);
  }
  const busy = new Life({ warm: true });
  busy.feed(READY, turn, command({ kind: "inject", message: "more" }), close, EXIT, DRAINED);
  assertEquals([busy.ending.status, busy.ending.outcome?.result], ["cancelled", "kept"]);
});

Deno.test("warm: a turn that is ended alone leaves the session as it is; between turns, at a door and of a cold one nothing is ended", () => {
  const cancelTurn = command({ kind: "cancel_turn" });
  const warm = new Life({ warm: true });
  warm.feed(READY);
  assertEquals(warm.feed(cancelTurn).map(brief), [">cancel_turn", "told:done"]);
  const phase = warm.state.phase;
  warm.feed(frame({ type: "turn", outcome: outcome({ status: "cancelled" }) }));
  assertEquals([phase, warm.state.phase, warm.state.turnOpen], ["running", "running", false]);
  assertEquals(warm.feed(cancelTurn).map(brief), ["told:already"]);
  for (const rules of [{ warm: true, hasDoor: true }, {}]) {
    const other = new Life(rules);
    other.feed(READY);
    assertEquals(other.feed(cancelTurn).map(brief), ["told:not_warm"]);
  }
});

Deno.test("door: it has no turn when it is ready, each runs from its start, and between two it is healthy however long", () => {
  const rules = { warm: true, hasDoor: true, deadlineMs: 1_000 } as const;
  const start = (task: string) => frame({ type: "event", event: "turn.start", fields: { task } });
  const end = frame({ type: "turn", outcome: outcome() });
  const life = new Life(rules);
  life.feed(READY);
  assertEquals([life.state.deadlineMs, life.state.turnOpen], [undefined, false]);
  for (let day = 0; day < 24; day++) {
    life.wait(3_600_000);
    life.feed(frame({ type: "pong", seq: life.state.pingSeq }));
    assertEquals(verdictOf(life.state, life.nowMs), "healthy");
  }
  life.feed(start("a"));
  assertEquals([life.state.deadlineMs, life.state.turnOpen], [life.nowMs + 61_000, true]);
  life.feed(end);
  assertEquals([life.state.deadlineMs, life.state.turnOpen], [undefined, false]);
  const late = live(rules, READY, start("b"));
  late.wait(61_000);
  assertEquals([late.state.reason?.ended_by, late.state.phase], ["deadline", "ending"]);
  // Of one without a door it is an event like any other, and messages of its supervisor are no turns of one with a door.
  const other = live({ warm: true, deadlineMs: 1_000 }, READY, end, start("c"));
  assertEquals([other.state.turnOpen, other.state.deadlineMs], [false, undefined]);
  assertEquals(live(rules, READY).feed(command({ kind: "inject", message: "m" })).map(brief), ["told:not_warm"]);
});

Deno.test("door: an idle session that answers no ping is stuck all the same", () => {
  const life = live({ warm: true, hasDoor: true }, READY);
  for (let second = 0; second < 200 && life.state.phase === "running"; second++) life.wait(1_000);
  assertEquals(life.state.reason?.ended_by, "stuck");
});

Deno.test("door: closed, in a turn or not, it ends as it says; its last turn is nothing about it", () => {
  const close = command({ kind: "close" });
  const start = frame({ type: "event", event: "turn.start", fields: {} });
  const failed = frame({ type: "turn", outcome: outcome({ status: "failed" }) });
  for (const turns of [[failed], [failed, start]]) {
    const life = live({ warm: true, hasDoor: true }, READY, ...turns);
    assertEquals(life.feed(close).map(brief).slice(0, 1), [">cancel"]);
    life.feed(RESULT, EXIT, DRAINED);
    assertEquals([life.ending.status, life.ending.ended_by], ["completed", "guest"]);
    const killed = live({ warm: true, hasDoor: true }, READY, ...turns, close, KILLED, DRAINED);
    assertEquals([killed.ending.status, killed.ending.ended_by], ["crashed", "crashed"]);
  }
});

Deno.test("pause: before ready it holds from the first turn on; cancel beats it; twice is once", () => {
  const pause = command({ kind: "pause" });
  const life = new Life();
  assertEquals(life.feed(pause).map(brief), [">pause", "told:done"]);
  assertEquals([life.feed(pause).map(brief), life.feed(READY) && life.state.phase], [["told:already"], "paused"]);
  assertEquals(life.feed(CANCEL).map(brief), [">cancel", "told:done"]);
  const early = new Life();
  early.feed(pause, command({ kind: "resume" }), READY);
  assertEquals(early.state.phase, "running");
});
