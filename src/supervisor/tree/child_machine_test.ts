import { assert, assertEquals } from "@std/assert";
import {
  brief,
  CANCEL,
  command,
  DRAINED,
  EXIT,
  frame,
  KILLED,
  Life,
  outcome,
  READY,
  RESULT,
  STOP,
} from "./child_fixture.ts";
import { verdictOf, wakeAtMs } from "./child_clock.ts";
import { live, MATRIX_INPUTS, PLACES, row } from "./child_matrix_fixture.ts";
import { type ChildInput, PHASES } from "./child_state.ts";

const MATRIX = new URL("../testdata/child_matrix.txt", import.meta.url);

/** `input @ place` → what it leads to, as the file has it. */
function readMatrix(text: string): Map<string, string> {
  const cells = new Map<string, string>();
  let input = "";
  for (const line of text.trimEnd().split("\n")) {
    const [leadsTo, places] = line.split(" <- ");
    if (places === undefined) input = line;
    for (const place of places?.split(" | ") ?? []) {
      assert(!cells.has(`${input} @ ${place}`), `twice: ${input} @ ${place}`);
      cells.set(`${input} @ ${place}`, leadsTo!.trim());
    }
  }
  return cells;
}

function usage(input: number, output: number): ChildInput {
  return frame({ type: "usage", input_tokens: input, output_tokens: output });
}

function event(name: string, fields: Record<string, unknown> = {}): ChildInput {
  return frame({ type: "event", event: name, fields });
}

Deno.test("step: every input at every place leads where the matrix says, and the matrix has no other", () => {
  const wanted = readMatrix(Deno.readTextFileSync(MATRIX));
  for (const input of Object.keys(MATRIX_INPUTS)) {
    for (const place of Object.keys(PLACES)) {
      const key = `${input} @ ${place}`;
      assertEquals(`${key}: ${row(place, input)}`, `${key}: ${wanted.get(key)}`);
      wanted.delete(key);
    }
  }
  assertEquals([...wanted.keys()], []);
  assertEquals(new Set(Object.values(PLACES).map((place) => place().state.phase)), new Set(PHASES));
});

Deno.test("step: whatever happens in whatever order, a child settles once and stays ended", () => {
  const inputs = Object.values(MATRIX_INPUTS);
  for (const first of inputs) {
    for (const second of inputs) {
      for (const place of Object.values(PLACES)) {
        const life = place();
        life.feed(first, second, KILLED, DRAINED, ...inputs);
        assertEquals(life.state.phase, "ended");
        assert(life.ending.status !== undefined && wakeAtMs(life.state) === undefined);
      }
    }
  }
});

Deno.test("ending: the supervisor's own reason, then the last word, then what the exit tells", () => {
  const end = (rules: ConstructorParameters<typeof Life>[0], ...inputs: ChildInput[]) => {
    const life = new Life(rules);
    life.feed(...inputs, DRAINED);
    return [life.ending.status, life.ending.ended_by];
  };
  const signal = (signal: Deno.Signal): ChildInput => ({ kind: "exit", exit: { code: 128, signal } });
  const failed = MATRIX_INPUTS["failed"]!;
  assertEquals(end({}, READY, CANCEL, RESULT, EXIT), ["cancelled", "terminated"]);
  assertEquals(end({}, READY, RESULT, CANCEL, KILLED), ["completed", "guest"]);
  assertEquals(end({}, READY, failed, { kind: "blocked", detail: "" }, KILLED), ["failed", "guest"]);
  assertEquals(end({}, READY, RESULT, RESULT, EXIT), ["failed", "protocol_broken"]);
  assertEquals(end({}, READY, RESULT, failed, EXIT), ["failed", "protocol_broken"]);
  assertEquals(end({}, READY, signal("SIGXCPU")), ["failed", "cpu"]);
  assertEquals(end({}, READY, RESULT, signal("SIGXCPU")), ["completed", "guest"]);
  for (const abort of ["SIGABRT", "SIGTRAP", "SIGILL"] as const) {
    assertEquals(end({ memoryLimited: true }, READY, signal(abort)), ["failed", "memory"]);
    assertEquals(end({ memoryLimited: false }, READY, signal(abort)), ["crashed", "crashed"]);
  }
  assertEquals(end({ memoryLimited: true }, READY, signal("SIGSEGV")), ["crashed", "crashed"]);
  assertEquals(end({}, READY, EXIT), ["crashed", "crashed"]);
  assertEquals(end({}, READY, { kind: "eof", torn: "torn" }, EXIT), ["failed", "protocol_broken"]);
  assertEquals(end({}, READY, { kind: "eof", torn: "torn" }, KILLED), ["crashed", "crashed"]);
  const word = (status: "refused" | "stalled" | "exhausted_tokens" | "cancelled" | "deadline") =>
    frame({ type: "result", outcome: outcome({ status }) });
  assertEquals(end({}, READY, word("refused"), EXIT), ["refused", "refused"]);
  assertEquals(end({}, READY, word("stalled"), EXIT), ["stalled", "guest"]);
  assertEquals(end({}, READY, word("exhausted_tokens"), EXIT), ["exhausted_tokens", "guest"]);
  assertEquals(end({}, READY, word("cancelled"), EXIT), ["cancelled", "interrupted"]);
  assertEquals(end({}, READY, word("deadline"), EXIT), ["deadline", "deadline"]);
});

Deno.test("ending: a crash names its exit and the end of stderr, and keeps what was told before", () => {
  const life = new Life({ warm: true });
  life.feed(READY, usage(3, 4), frame({ type: "turn", outcome: outcome({ result: "first" }) }));
  life.nowMs = 1_999;
  life.feed({ kind: "exit", exit: { code: 3, signal: null } }, { kind: "drained", tail: "é".repeat(1_500) });
  const { ending } = life;
  assertEquals([ending.exit, ending.detail], [
    { code: 3, signal: null },
    "the session exited with code 3 without a result",
  ]);
  assertEquals([ending.tail, ending.outcome?.result], ["é".repeat(1_000), "first"]);
  assertEquals([ending.tokens_in, ending.tokens_out, ending.duration_ms, ending.spawn_crash], [3, 4, 1_999, false]);
});

Deno.test("ending: dying within 2 s without ever being ready is a crash on spawn, at 2 s or when ready it is not", () => {
  const crash = (atMs: number, ...inputs: ChildInput[]) => {
    const life = new Life();
    life.feed(...inputs);
    life.nowMs = atMs;
    life.feed(KILLED, DRAINED);
    return life.ending.spawn_crash;
  };
  assertEquals([crash(1_999), crash(2_000), crash(1_999, READY)], [true, false, false]);
});

Deno.test("usage: a delta counts at every moment, also of a child that broke the protocol, and before its last word", () => {
  const life = new Life();
  life.feed(READY, usage(1, 2), CANCEL, usage(10, 20));
  life.feed({ kind: "fault", detail: "rule" }, usage(100, 200), event("x"), EXIT, usage(1_000, 2_000), RESULT, DRAINED);
  assertEquals([life.ending.tokens_in, life.ending.tokens_out], [1_111, 2_222]);
  const spent = life.effects.flatMap((effect) => effect.kind === "spent" ? [effect.tokens] : []);
  assertEquals([spent, life.ending.dropped.frames], [[3, 30, 300, 3_000], 2]);
});

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

Deno.test("requests: everything that is asked is answered, what is not granted at once and with an error", () => {
  const life = new Life({ allowedTools: ["read", "fs_*"] });
  life.feed(READY);
  const ask = (id: number, name: string) => life.feed(frame({ type: "tool_request", id, name, args: {} })).map(brief);
  assertEquals([ask(1, "read"), ask(2, "fs_list"), ask(3, "readx"), ask(4, "write")], [
    ...[["tool"], ["tool"], [">tool_result"], [">tool_result"]],
  ]);
  const none = new Life({ allowedTools: [] });
  none.feed(READY);
  const [refused] = none.feed(frame({ type: "tool_request", id: 1, name: "read", args: {} }));
  assert(refused?.kind === "send" && refused.message.type === "tool_result" && refused.message.is_error);
});

Deno.test("requests: one answer each; late, unknown and second ones are dropped and counted; ids are one space", () => {
  const life = new Life();
  const answer = (id: number) =>
    command({ kind: "answer", message: { type: "tool_result", id, result: 1, is_error: false } });
  life.feed(READY, frame({ type: "tool_request", id: 1, name: "t", args: {} }));
  assertEquals(life.feed(answer(1)).map(brief), [">tool_result", "told:done"]);
  assertEquals([life.feed(answer(1)).map(brief), life.feed(answer(2)).map(brief)], [
    ...[["told:unknown_id"], ["told:unknown_id"]],
  ]);
  life.feed(frame({ type: "budget_request", id: 1, estimate: 1 }));
  life.feed(frame({ type: "tool_request", id: 1, name: "t", args: {} }));
  assertEquals(life.state.reason?.ended_by, "protocol_broken");
  life.feed(KILLED, DRAINED);
  assertEquals([life.feed(answer(1)).map(brief), life.state.dropped.answers], [["told:ended"], 3]);
});

Deno.test("requests: at most 256 wait at once, the next is refused and not forgotten", () => {
  const life = new Life();
  life.feed(READY);
  const ask = (id: number) => life.feed(frame({ type: "budget_request", id, estimate: 1 })).map(brief);
  for (let id = 1; id <= 256; id++) assertEquals(ask(id), ["budget"]);
  assertEquals([ask(257), life.state.pending.size], [[">budget_grant"], 256]);
});

Deno.test("budget: what the session's own limit leaves is told with the request", () => {
  const life = new Life({ maxTokens: 100 });
  life.feed(READY, usage(30, 10));
  assertEquals(life.feed(frame({ type: "budget_request", id: 1, estimate: 5 })), [
    { kind: "budget", id: 1, estimate: 5, ownLeft: 60 },
  ]);
});

Deno.test("gates: a reply that loses to the timeout, or to the child's end, is reported undelivered", () => {
  const gate = frame({ type: "gate", node: "n", payload: {} });
  const reply = command({ kind: "reply", node: "n", message: "yes" });
  const life = new Life();
  assertEquals(life.feed(READY, reply).map(brief), ["told:not_open"]);
  assertEquals([life.feed(gate).map(brief), life.feed(reply).map(brief), life.feed(reply).map(brief)], [
    ...[["!gate"], [">inject", "told:taken"], ["told:already_replied"]],
  ]);
  assertEquals(life.feed(frame({ type: "gate_closed", node: "n", via: "timeout" })).map(brief), [
    ...["!gate_closed", "!reply_undelivered"],
  ]);
  assertEquals(life.feed(gate, reply, KILLED, DRAINED).map(brief), [
    ...["!gate_closed", "!reply_undelivered", "settle:crashed/crashed"],
  ]);
  assertEquals(life.feed(reply).map(brief), ["told:ended"]);
});

Deno.test("events: a flood is passed on up to its bound, the rest counted, and one line says so", () => {
  const life = new Life();
  life.feed(READY);
  for (let i = 0; i < 100_000; i++) life.feed(event("turn.round", { i }));
  const counted = life.effects.map(brief);
  assertEquals(counted.filter((effect) => effect === "!event").length, 500);
  assertEquals([counted.filter((effect) => effect === "log").length, life.state.dropped.events], [1, 99_500]);
  life.nowMs = 1_000;
  assertEquals(life.feed(event("turn.round", { last: true })).map(brief), ["!event"]);
});

Deno.test("news: gates, turns and health beyond what anybody can follow break the protocol, a steady stream does not", () => {
  const health = frame({ type: "intel_health", all_down: true });
  const floods: readonly (readonly ChildInput[])[] = [
    [health],
    [frame({ type: "turn", outcome: outcome() })],
    [frame({ type: "gate", node: "n", payload: {} }), frame({ type: "gate_closed", node: "n", via: "timeout" })],
  ];
  for (const flood of floods) {
    const life = new Life({ warm: true });
    life.feed(READY);
    for (let said = 0; said < 500; said += flood.length) life.feed(...flood);
    assertEquals(life.state.reason, undefined);
    life.feed(flood[0]!);
    assertEquals(life.state.reason?.ended_by, "protocol_broken");
    assertEquals(life.effects.filter(({ kind }) => kind === "notice").length, 501);
  }
  const steady = new Life();
  steady.feed(READY);
  for (let i = 0; i < 10_000; i++) {
    steady.nowMs += 10;
    steady.feed(health);
  }
  assertEquals(steady.state.reason, undefined);
});

Deno.test("outcomes: a long text is cut whatever the session did, and what nobody offers is refused in the log by name", () => {
  const told = outcome({
    result: "é".repeat(4_001),
    scheduled: [{ after_ms: 1, instruction: "again" }, { after_ms: 2, instruction: "and again" }],
    subscriptions: [{ uri: "file:///x", action: "look" }],
  });
  const lines = (life: Life) => life.effects.flatMap((effect) => effect.kind === "log" ? [effect.line] : []);
  const once = new Life();
  once.feed(READY, frame({ type: "result", outcome: told }), EXIT, DRAINED);
  const cut = `${"é".repeat(4_000)} … [truncated]`;
  assertEquals(once.ending.outcome, { ...told, result: cut });
  assertEquals(lines(once).map((line) => line.split(":")[0]), [
    "refused scheduled, 2 of them",
    "refused subscriptions, 1 of them",
  ]);
  const warm = new Life({ warm: true });
  warm.feed(
    READY,
    frame({ type: "turn", outcome: told }),
    frame({ type: "turn", outcome: outcome({ result: { long: told.result } }) }),
  );
  const turns = warm.effects.flatMap((effect) =>
    effect.kind === "notice" && effect.notice.kind === "turn" ? [effect.notice.outcome.result] : []
  );
  assertEquals([turns, lines(warm).length], [[cut, { long: told.result }], 2]);
});

Deno.test("unknown frames: counted, each type once in the log and at most 16 of them; no progress", () => {
  const life = new Life();
  life.feed(READY);
  life.nowMs = 1_000;
  for (let i = 0; i < 100; i++) life.feed({ kind: "frame", message: { type: "unknown", tag: `tag${i % 50}` } });
  assertEquals(life.effects.filter(({ kind }) => kind === "log").length, 16);
  assertEquals([life.state.dropped.unknown, life.state.progressMs], [100, 0]);
});

Deno.test("roles: turn_done is a turn's last word and nobody else's; a warm session alone has turns", () => {
  const turn = new Life({ role: "turn" });
  turn.feed(READY, MATRIX_INPUTS["turn_done"]!, EXIT, DRAINED);
  assertEquals([turn.ending.status, turn.ending.turn?.rounds], ["completed", 1]);
  const wrong = new Life({ role: "turn" });
  wrong.feed(READY, RESULT);
  assertEquals(wrong.state.reason?.ended_by, "protocol_broken");
});
