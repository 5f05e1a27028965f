import { assertEquals } from "@std/assert";
import { type FrameSink, MAX_QUEUED_BYTES, MAX_QUEUED_FRAMES, WriteQueue } from "./write_queue.ts";

/** Takes each frame when it is told to, and keeps its length. */
class Gate implements FrameSink {
  readonly taken: (number | string)[] = [];
  #open = Promise.withResolvers<void>();

  async write(frame: Uint8Array): Promise<void> {
    await this.#open.promise;
    this.taken.push(frame.length);
    if (frame.length === 13) throw new Error("the reader is gone");
  }

  close(): Promise<void> {
    this.taken.push("end");
    return Promise.resolve();
  }

  abort(): Promise<void> {
    this.taken.push("abort");
    return Promise.resolve();
  }

  open(): void {
    this.#open.resolve();
  }
}

async function settle(queue: WriteQueue): Promise<void> {
  while (queue.frames > 0) await Promise.resolve();
}

Deno.test("WriteQueue: full at 64 frames or 32 MiB, and never one more; what was taken leaves room", async () => {
  const [many, large] = [new Gate(), new Gate()];
  const frames = new WriteQueue(many);
  const pushed = Array.from({ length: MAX_QUEUED_FRAMES + 1 }, () => frames.push(new Uint8Array(1)));
  assertEquals([pushed.indexOf(false), frames.frames], [MAX_QUEUED_FRAMES, MAX_QUEUED_FRAMES]);
  const bytes = new WriteQueue(large);
  const half = new Uint8Array(MAX_QUEUED_BYTES / 2);
  assertEquals([bytes.push(half), bytes.push(half), bytes.push(new Uint8Array(1))], [true, true, false]);
  assertEquals([bytes.frames, bytes.bytes], [2, MAX_QUEUED_BYTES]);
  large.open();
  await settle(bytes);
  assertEquals([bytes.bytes, bytes.push(new Uint8Array(1))], [0, true]);
});

Deno.test("WriteQueue: frames go in order, a failed one holds up none, and the end comes after them", async () => {
  const gate = new Gate();
  const queue = new WriteQueue(gate);
  for (const length of [1, 13, 2]) queue.push(new Uint8Array(length));
  queue.close();
  assertEquals([queue.push(new Uint8Array(9)), queue.frames], [true, 3]);
  gate.open();
  await settle(queue);
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  assertEquals(gate.taken, [1, 13, 2, "end"]);
});
