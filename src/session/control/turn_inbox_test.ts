import { assertEquals } from "@std/assert";
import { TurnInbox } from "./turn_inbox.ts";

Deno.test("TurnInbox: messages are turns in their order, also before anybody waits; a one-shot session has none", async () => {
  const inbox = new TurnInbox({ takesTurns: true });
  for (const message of ["one", "two"]) assertEquals(inbox.inject({ type: "inject", message }), undefined);
  assertEquals([await inbox.nextTurn(), await inbox.nextTurn()], ["one", "two"]);
  const waiting = inbox.nextTurn();
  inbox.inject({ type: "inject", message: "three" });
  assertEquals(await waiting, "three");
  const oneShot = new TurnInbox({ takesTurns: false });
  assertEquals(
    oneShot.inject({ type: "inject", message: "x" }),
    "this session takes no further turns from its supervisor",
  );
});

Deno.test("TurnInbox: an answer reaches its open gate once, and no other", async () => {
  const inbox = new TurnInbox({ takesTurns: true });
  const answer = (node: string, message: string) => inbox.inject({ type: "inject", message, node });
  assertEquals(answer("a", "early"), "no such gate is open");
  const asked = inbox.answerTo("a");
  assertEquals([answer("b", "strange"), answer("a", "yes"), answer("a", "again")], [
    "no such gate is open",
    undefined,
    "no such gate is open",
  ]);
  assertEquals(await asked, "yes");
});

Deno.test("TurnInbox: the last swap wins, and is taken once", () => {
  const inbox = new TurnInbox({ takesTurns: false });
  const swap = (model: string) => ({ type: "swap_intel", uri: "https://a", model, policy: "finish-on-old" }) as const;
  assertEquals(inbox.takeSwap(), undefined);
  for (const model of ["a", "b"]) inbox.offerSwap(swap(model));
  assertEquals([inbox.takeSwap()?.model, inbox.takeSwap()], ["b", undefined]);
});

Deno.test("TurnInbox: a turn is ended by itself while it runs, and the next one is another", () => {
  const inbox = new TurnInbox({ takesTurns: true });
  assertEquals(inbox.cancelTurn(), false);
  const first = inbox.beginTurn();
  assertEquals([inbox.cancelTurn(), first.aborted], [true, true]);
  inbox.endTurn();
  assertEquals(inbox.cancelTurn(), false);
  assertEquals(inbox.beginTurn().aborted, false);
});
