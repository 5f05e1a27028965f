import { assertEquals, assertThrows } from "@std/assert";
import type { Caller } from "./identify.ts";
import { ReplyRoom } from "./reply_room.ts";
import { DoorBusyError } from "./tasks/task_board.ts";

const OWNER: Caller = { principal: "owner", origin: "user", isOwner: true };
const [ADA, BOB] = ["ada", "bob"].map((principal): Caller => ({ principal, origin: "peer", isOwner: false })) as [
  Caller,
  Caller,
];

/** Whether each of them could have a large answer now, and a small one. */
function open(room: ReplyRoom): string {
  return [OWNER, ADA, BOB].map((caller) => {
    const answers = [11, 10].map((bytes) => {
      const hold = room.open(caller);
      const isTaken = hold.take(bytes);
      hold.release();
      return isTaken;
    });
    assertEquals(answers[1], true, "a small answer comes in always");
    return answers[0] ? caller.principal : "-";
  }).join(" ");
}

Deno.test("ReplyRoom: large answers of one peer have half of it, of all peers three quarters, the owner's all; at the bound and one below", () => {
  const room = new ReplyRoom({ replyBytes: 100, largeReplyBytes: 10 });
  const [ada, bob, owner] = [room.open(ADA), room.open(BOB), room.open(OWNER)];
  ada.claim(49);
  assertEquals([open(room), room.bytes], ["owner ada bob", 49]);
  ada.settle(50);
  assertEquals(open(room), "owner - bob");
  bob.claim(24);
  assertEquals(open(room), "owner - bob");
  bob.settle(25);
  assertEquals(open(room), "owner - -");
  owner.claim(24);
  assertEquals(open(room), "owner - -");
  owner.settle(25);
  assertEquals([open(room), room.bytes], ["- - -", 100]);
  const refused = room.open(OWNER);
  assertThrows(() => refused.claim(11), DoorBusyError);
  assertEquals([refused.wasRefused, refused.bytes], [true, 0]);
  for (const hold of [ada, bob, owner]) hold.release();
  assertEquals([open(room), room.bytes], ["owner ada bob", 0]);
});

Deno.test("ReplyRoom: an answer larger than all of it can be had; what it holds itself does not stand in its way", () => {
  const room = new ReplyRoom({ replyBytes: 100, largeReplyBytes: 10 });
  const hold = room.open(ADA);
  assertEquals([hold.take(1_000), hold.take(1_000), room.bytes], [true, true, 2_000]);
  assertEquals(room.open(OWNER).take(11), false);
});

Deno.test("ReplyHold.wait: takes when another has left, and nothing when its client is gone", async () => {
  const room = new ReplyRoom({ replyBytes: 100, largeReplyBytes: 10 });
  const [first, second, third] = [room.open(OWNER), room.open(OWNER), room.open(OWNER)];
  const gone = new AbortController();
  first.claim(100);
  const [waiting, given] = [second.wait(60, new AbortController().signal), third.wait(60, gone.signal)];
  first.settle(101);
  gone.abort();
  await given;
  assertEquals([second.bytes, third.bytes, room.bytes], [0, 0, 101]);
  first.release();
  await waiting;
  assertEquals([second.bytes, room.bytes], [60, 60]);
});
