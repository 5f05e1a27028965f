import { assertEquals } from "@std/assert";
import { ChildPipes } from "./child_pipes.ts";
import type { Clock } from "./clock.ts";

/** Time that passes when somebody waits for it. */
class Waited implements Clock {
  ms = 0;
  /** Done whenever time has passed. */
  passed: () => void = () => {};

  nowMs = () => this.ms;
  epochMs = () => this.ms;

  after(ms: number, run: () => void): () => void {
    let calledOff = false;
    // A little of it passes, and whoever writes at that moment does.
    const step = (left: number) => {
      if (calledOff) return;
      if (left <= 0) return run();
      this.ms += Math.min(100, left);
      this.passed();
      setTimeout(() => step(left - 100), 0);
    };
    setTimeout(() => step(ms), 0);
    return () => calledOff = true;
  }
}

function pipesOf(clock: Clock) {
  let writer: ReadableStreamDefaultController<Uint8Array>;
  const stdout = new ReadableStream<Uint8Array>({
    start(controller) {
      writer = controller;
    },
  });
  const stderr = new ReadableStream<Uint8Array>({ start: (controller) => controller.close() });
  let bytes = 0;
  const pipes = new ChildPipes({ stdout, stderr } as Deno.ChildProcess, clock, {
    stdout: (chunk) => bytes += chunk.length,
    stdoutEnd: () => {},
    stderr: () => {},
  });
  return { pipes, write: (count: number) => writer.enqueue(new Uint8Array(count)), read: () => bytes };
}

Deno.test("ChildPipes.drained: 500 ms of silence end it, and so do 10 s of somebody's trickle", async () => {
  const silent = new Waited();
  await pipesOf(silent).pipes.drained();
  assertEquals(silent.ms, 500);
  const clock = new Waited();
  const { pipes, write, read } = pipesOf(clock);
  let over = false;
  clock.passed = () => over || write(1);
  await pipes.drained();
  over = true;
  assertEquals([clock.ms >= 10_000, clock.ms < 11_000, read() > 50], [true, true, true]);
});
