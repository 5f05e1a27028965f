import { assertEquals } from "@std/assert";
import { CANCEL, DRAINED, event, EXIT, frame, KILLED, Life, outcome, READY, RESULT, usage } from "./child_fixture.ts";
import { MATRIX_INPUTS } from "./child_matrix_fixture.ts";
import type { ChildInput } from "./child_state.ts";

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
