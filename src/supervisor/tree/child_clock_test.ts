import { assert, assertEquals } from "@std/assert";
import {
  brief,
  CANCEL,
  command,
  DRAINED,
  event,
  EXIT,
  frame,
  KILLED,
  Life,
  READY,
  RESULT,
  STOP,
} from "./child_fixture.ts";
import { wakeAtMs } from "./child_clock.ts";
import { MATRIX_INPUTS } from "./child_matrix_fixture.ts";

Deno.test("ready: only child.up may come before, and 180 s are the time for it", () => {
  for (const [name, input] of Object.entries(MATRIX_INPUTS)) {
    if (input.kind !== "frame") continue;
    const life = new Life();
    life.feed(input);
    const allowed = ["ready", "event child.up", "pong", "unknown", "result", "failed"].includes(name);
    assertEquals([name, life.state.broken], [name, !allowed]);
  }
  const slow = new Life();
  slow.feed(event("child.up"));
  assertEquals([slow.wait(179_999), wakeAtMs(slow.state)], [[], 180_000]);
  assertEquals(slow.wait(1).map(brief), [">cancel"]);
  slow.feed(KILLED, DRAINED);
  assertEquals([slow.ending.status, slow.ending.ended_by, slow.ending.spawn_crash], ["failed", "not_ready", false]);
});

Deno.test("ladder: cancel, 5 s, SIGTERM, 2 s, SIGKILL, each once; its exit ends it", () => {
  const life = new Life();
  life.feed(READY, CANCEL, CANCEL);
  const steps: [number, string[]][] = [];
  for (let at = 0; at <= 9_000; at += 500) {
    const effects = life.wait(500).map(brief);
    if (effects.length > 0) steps.push([life.nowMs, effects]);
  }
  assertEquals(steps, [[5_000, ["SIGTERM"]], [7_000, ["SIGKILL"]]]);
  assertEquals(life.effects.map(brief).filter((effect) => effect === ">cancel").length, 1);
  const early = new Life();
  early.feed(READY, CANCEL, EXIT);
  assertEquals([early.wait(60_000), wakeAtMs(early.state)], [[], undefined]);
});

Deno.test("ladder: a child that has said its last word and stays goes the same way, with its result", () => {
  const life = new Life();
  life.feed(READY, RESULT);
  assertEquals([life.wait(4_999), life.wait(1).map(brief), life.wait(2_000).map(brief)], [[], ["SIGTERM"], [
    "SIGKILL",
  ]]);
  life.feed(KILLED, DRAINED);
  assertEquals([life.ending.status, life.ending.outcome?.result], ["completed", "42"]);
});

Deno.test("kill: no waiting, and a result that was told stays", () => {
  const [asked, told] = [new Life(), new Life()];
  const kill = command({ kind: "kill", reason: STOP });
  assertEquals(asked.feed(READY, CANCEL, kill).map(brief), ["SIGKILL", "told:done"]);
  assertEquals(asked.feed(kill).map(brief), ["told:done"]);
  told.feed(READY, RESULT, kill, KILLED, DRAINED);
  assertEquals(told.ending.status, "completed");
});

Deno.test("liveness: three minutes of a model call with pongs are busy, not stuck; pongs alone are no progress", () => {
  const life = new Life();
  life.feed(READY);
  let pings = 0;
  while (life.nowMs < 180_000) {
    const at = wakeAtMs(life.state)!;
    for (const effect of life.wait(at - life.nowMs)) {
      assert(effect.kind === "send" && effect.message.type === "ping");
      pings++;
      life.feed(frame({ type: "pong", seq: effect.message.seq }));
    }
  }
  assertEquals([life.state.phase, life.state.progressMs, pings], ["running", 0, 55]);
});

Deno.test("liveness: silence is stuck after both timeouts, and a pong to a ping that was never sent is silence", () => {
  const life = new Life();
  life.feed(READY);
  while (life.state.phase === "running" && life.nowMs < 600_000) {
    life.wait(wakeAtMs(life.state)! - life.nowMs);
    life.feed(frame({ type: "pong", seq: 1_000_000 }), frame({ type: "pong", seq: 0 }));
  }
  assert(life.nowMs >= 120_000 && life.nowMs < 124_000, `${life.nowMs}`);
  life.feed(KILLED, DRAINED);
  assertEquals([life.ending.status, life.ending.ended_by], ["deadline", "stuck"]);
});

Deno.test("liveness: an event that repeats the last one unchanged is no progress, a changed one is", () => {
  const life = new Life();
  life.feed(READY, event("turn.think", { round: 1 }));
  life.nowMs = 50_000;
  life.feed(event("turn.think", { round: 1 }));
  assertEquals(life.state.progressMs, 0);
  life.feed(event("turn.think", { round: 2 }));
  assertEquals(life.state.progressMs, 50_000);
});

Deno.test("liveness: a supervisor that stood still blames no child, and its deadline stands", () => {
  const life = new Life();
  life.feed(READY);
  assertEquals([life.wait(500_000).map(brief), life.state.phase], [[">ping"], "running"]);
  assertEquals(life.wait(500_000).map(brief), [">cancel"]);
  assertEquals(life.state.reason?.ended_by, "deadline");
});

Deno.test("deadline: the backstop is 60 s after the payload's, counted from ready", () => {
  const life = new Life({ deadlineMs: 1_000 });
  life.nowMs = 100_000;
  life.feed(READY);
  for (let seq = 1; life.state.phase === "running"; seq++) {
    life.wait(wakeAtMs(life.state)! - life.nowMs);
    life.feed(event("turn.round", { seq }));
  }
  assertEquals([life.nowMs, life.state.reason?.status, life.state.reason?.ended_by], [161_000, "deadline", "deadline"]);
});
