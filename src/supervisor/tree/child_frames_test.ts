import { assert, assertEquals } from "@std/assert";
import { brief, command, DRAINED, event, frame, KILLED, Life, outcome, READY, usage } from "./child_fixture.ts";
import type { ChildInput } from "./child_state.ts";

Deno.test("requests: everything that is asked is answered, what is not granted at once and with an error", () => {
  const life = new Life({ allowedTools: ["read", "fs_*"] });
  life.feed(READY);
  const ask = (id: number, name: string) => life.feed(frame({ type: "tool_request", id, name, args: {} })).map(brief);
  assertEquals([ask(1, "read"), ask(2, "fs_list"), ask(3, "readx"), ask(4, "write")], [
    ...[["tool"], ["tool"], [">tool_result"], [">tool_result"]],
  ]);
  const keyed = { type: "tool_request", id: 5, name: "read", args: { a: 1 }, idempotency_key: "ctx/1/k" } as const;
  const { type: _, ...request } = keyed;
  assertEquals(life.feed(frame(keyed)), [{ kind: "tool", ...request }]);
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

Deno.test("unknown frames: counted, each type once in the log and at most 16 of them; no progress", () => {
  const life = new Life();
  life.feed(READY);
  life.nowMs = 1_000;
  for (let i = 0; i < 100; i++) life.feed({ kind: "frame", message: { type: "unknown", tag: `tag${i % 50}` } });
  assertEquals(life.effects.filter(({ kind }) => kind === "log").length, 16);
  assertEquals([life.state.dropped.unknown, life.state.progressMs], [100, 0]);
});
