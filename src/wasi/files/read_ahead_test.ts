import { assertEquals, assertInstanceOf } from "@std/assert";
import { thrown } from "../host_fixture.ts";
import { answerReadAhead, READ_AHEAD_BYTES, sharedReadAhead, shareReadAhead } from "./read_ahead.ts";
import { inheritedStdin } from "../stdio.ts";

/** A stdin whose reads answer in order; a read that finds no answer is a mistake. */
function fakeStdin(...answers: (string | null | Error)[]) {
  return {
    reads: 0,
    readSync: (): number => {
      throw new Error("Read on the guest's thread: not expected");
    },
    read(buffer: Uint8Array): Promise<number | null> {
      this.reads++;
      const answer = answers.shift();
      if (answer instanceof Error) return Promise.reject(answer);
      return Promise.resolve(answer == null ? null : new TextEncoder().encodeInto(answer, buffer).written);
    },
  };
}

/** A source whose read ahead is answered when `answer` is called, as by another thread. */
function openShared(file: ReturnType<typeof fakeStdin>) {
  const shared = shareReadAhead();
  let asked = 0;
  const told: (() => void)[] = [];
  const ask = () => (asked++, new Promise<void>((resolve) => told.push(resolve)));
  const source = inheritedStdin(file, sharedReadAhead(shared, ask));
  const answer = async () => {
    await answerReadAhead(shared, file);
    told.shift()!();
  };
  return { source, asked: () => asked, answer };
}

const text = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes);

Deno.test("sharedReadAhead: one read for each wait, its bytes once, then the end", async () => {
  const file = fakeStdin("hello", null);
  const { source, asked, answer } = openShared(file);
  assertEquals([text(source.read(9)), asked(), file.reads], ["", 0, 0]);
  const waiting = source.wait();
  assertEquals([source.wait() === waiting, asked(), source.ready()], [true, 1, false]);
  await answer();
  await waiting;
  assertEquals([text(source.read(2)), text(source.blockingRead(9)), text(source.read(9))], ["he", "llo", ""]);
  const further = source.wait();
  await answer();
  await further;
  assertEquals([source.ready(), source.read(1), asked(), file.reads], [true, undefined, 2, 2]);
});

Deno.test("sharedReadAhead: a blocking read takes the read under way, whose waiter then finds nothing of it", async () => {
  const { source, asked, answer } = openShared(fakeStdin("one", "two"));
  const waiting = source.wait();
  await answer();
  assertEquals(text(source.blockingRead(9)), "one");
  const further = source.wait();
  await waiting;
  assertEquals([source.ready(), asked()], [false, 2]);
  await answer();
  assertEquals([source.blockUntilReady!(), text(source.read(9))], [true, "two"]);
  await further;
  assertEquals([source.ready(), asked()], [false, 2]);
});

Deno.test("answerReadAhead: EAGAIN is waited out, a failure keeps its message, a full buffer passes whole", async () => {
  const again = new Deno.errors.WouldBlock("Resource temporarily unavailable (os error 11)");
  const whole = "x".repeat(READ_AHEAD_BYTES);
  const { source, answer } = openShared(fakeStdin(again, whole, new Error("Input/output error (os error 5)")));
  source.wait();
  await answer();
  assertEquals(text(source.blockingRead(READ_AHEAD_BYTES)), whole);
  source.wait();
  await answer();
  const failure = thrown(() => source.blockingRead(1));
  assertInstanceOf(failure, Error);
  assertEquals(failure.message, "Input/output error (os error 5)");
});
