import { assertEquals } from "@std/assert";
import type { Msg } from "../../protocol/control/mod.ts";
import { DoorContexts } from "./door_contexts.ts";

const say = (text: string): Msg => ({ role: "user", text, ts: 1 });
const texts = (messages: readonly Msg[]) => messages.map((message) => "text" in message && message.text);

Deno.test("DoorContexts: each conversation goes on by itself; two senders share none, whatever they call it", () => {
  const contexts = new DoorContexts([say("begin")]);
  const mine = { contextId: "c", principal: "owner" };
  const theirs = { contextId: "c", principal: "friend" };
  contexts.add(mine, [say("one")]);
  contexts.add(mine, [say("two")]);
  assertEquals(texts(contexts.get(mine)), ["begin", "one", "two"]);
  assertEquals(texts(contexts.get(theirs)), ["begin"]);
});

Deno.test("DoorContexts: the one that rested longest goes first, when there are too many and when they are too large", () => {
  const contexts = new DoorContexts();
  const whose = (i: number) => ({ contextId: `c${i}`, principal: "p" });
  for (let i = 0; i < 256; i++) contexts.add(whose(i), [say(`${i}`)]);
  contexts.add(whose(0), [say("again")]);
  contexts.add(whose(256), [say("one more")]);
  assertEquals([0, 1, 2, 256].map((i) => contexts.get(whose(i)).length), [2, 0, 1, 1]);
  contexts.add(whose(300), [say("x".repeat(20 * 1024 * 1024))]);
  contexts.add(whose(301), [say("x".repeat(20 * 1024 * 1024))]);
  assertEquals([0, 300, 301].map((i) => contexts.get(whose(i)).length), [0, 0, 1]);
});
