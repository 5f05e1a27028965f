import { assertEquals } from "@std/assert";
import { closeGate, type OpenGate, openGate, replyToGate } from "./gates.ts";

const OPEN: OpenGate = { node: "n1", payload: { question: "go on?" }, replied: false };

Deno.test("openGate: one at a time", () => {
  assertEquals(openGate(undefined, "n1", OPEN.payload), OPEN);
  assertEquals([openGate(OPEN, "n2", {}), openGate(OPEN, "n1", {})], ["second_gate", "second_gate"]);
});

Deno.test("replyToGate: one reply is taken once; one for another gate, or before there is one, is not", () => {
  const first = replyToGate(OPEN, "n1");
  assertEquals(first, { gate: { ...OPEN, replied: true }, verdict: "taken" });
  assertEquals(replyToGate(first.gate, "n1"), { gate: first.gate, verdict: "already_replied" });
  assertEquals(replyToGate(OPEN, "n2"), { gate: OPEN, verdict: "not_open" });
  assertEquals(replyToGate(undefined, "n1"), { gate: undefined, verdict: "not_open" });
});

Deno.test("closeGate: the first of reply, resource and timeout wins, and a reply that lost is undelivered", () => {
  const replied = { ...OPEN, replied: true };
  assertEquals(closeGate(replied, "n1", "reply"), { undelivered: false });
  for (const via of ["uri", "timeout", "ended"] as const) {
    assertEquals([closeGate(replied, "n1", via), closeGate(OPEN, "n1", via)], [
      ...[{ undelivered: true }, { undelivered: false }],
    ]);
  }
  assertEquals([closeGate(OPEN, "n2", "reply"), closeGate(undefined, "n1", "reply")], [
    ...["no_such_gate", "no_such_gate"],
  ]);
});
