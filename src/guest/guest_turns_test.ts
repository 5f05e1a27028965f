import { assertEquals } from "@std/assert";
import type { FromCell } from "../protocol/mod.ts";
import { GuestTurns } from "./guest_turns.ts";

/** Turns, and what they told, by the number of the call. */
function turnsOf(): { turns: GuestTurns; told: number[] } {
  const told: number[] = [];
  return {
    turns: new GuestTurns((message: FromCell) => told.push(message.type === "running" ? message.id : -1)),
    told,
  };
}

const moment = () => new Promise((resolve) => setTimeout(resolve, 5));

Deno.test("GuestTurns: whose turn it is is told before it is taken, once; that it is nobody's when that lasts", async () => {
  const { turns, told } = turnsOf();
  const [one, other] = [turns.of({ callId: 1 }), turns.of({ callId: 2 })];
  one.enter();
  one.leave();
  one.enter();
  assertEquals(told, [1]);
  one.leave();
  other.enter();
  assertEquals(told, [1, 2]);
  other.leave();
  await moment();
  assertEquals(told, [1, 2, 0]);
  one.enter();
  one.leave();
  turns.end(1);
  await moment();
  assertEquals(told, [1, 2, 0, 1], "its end says it itself");
  turns.of({ callId: 0 }).enter();
  other.enter();
  turns.of({ callId: 0 }).enter();
  assertEquals(told, [1, 2, 0, 1, 2, 0], "one that is made ahead is nobody's");
});

Deno.test("GuestTurns: of those that could go on at once each is told right before it does", async () => {
  const { turns, told } = turnsOf();
  const ran: number[] = [];
  const waits = [1, 2, 3].map((callId) => {
    const [turn, wait] = [turns.of({ callId }), Promise.withResolvers<void>()];
    const running = wait.promise.then(() => ran.push(callId, told.at(-1)!)); // as the engine resumes it
    return { running, goOn: () => turn.resume(() => (turn.enter(), wait.resolve())) };
  });
  const ready = Promise.resolve();
  await Promise.all(waits.flatMap(({ goOn, running }) => [ready.then(goOn), running]));
  assertEquals([ran, told], [[1, 1, 2, 2, 3, 3], [1, 2, 3]]);
});
