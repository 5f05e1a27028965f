import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import fc from "fast-check";
import { thrown } from "./host_fixture.ts";
import { SinkClosed, type SourceChunk } from "./ports.ts";
import { closedSink, closedSource, inheritedSink, inheritedStdin, type StdoutFile } from "./stdio.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (chunk: SourceChunk) => new TextDecoder().decode(chunk);

/**
 * stdout as Deno has it: Rust's line writer (1024 bytes) before a non-blocking descriptor. The system takes what
 * `room` says at each call: 0 is EAGAIN. Pipes take up to 4096 bytes whole or not at all.
 */
class LineWriter implements StdoutFile {
  readonly got: number[] = [];
  #buffer: number[] = [];
  readonly #room: () => number;
  readonly #isTerminal: boolean;

  constructor(room: () => number, isTerminal: boolean) {
    this.#room = room;
    this.#isTerminal = isTerminal;
  }

  isTerminal(): boolean {
    return this.#isTerminal;
  }

  writeSync(chunk: Uint8Array): number {
    const count = this.#accept([...chunk]);
    this.#flush();
    return count;
  }

  #accept(chunk: number[]): number {
    const lines = chunk.lastIndexOf(10) + 1;
    if (lines === 0) {
      if (this.#buffer.at(-1) === 10) this.#flush();
      if (chunk.length < 1024 - this.#buffer.length) return this.#buffer.push(...chunk), chunk.length;
      this.#flush();
      return this.#system(chunk);
    }
    this.#flush();
    const count = this.#system(chunk.slice(0, lines));
    const tail = chunk.slice(count, count >= lines ? undefined : lines).slice(0, 1024);
    this.#buffer.push(...tail);
    return count + tail.length;
  }

  #flush(): void {
    while (this.#buffer.length > 0) this.#buffer.splice(0, this.#system(this.#buffer));
  }

  #system(chunk: readonly number[]): number {
    const room = this.#room();
    const isAtomic = !this.#isTerminal && chunk.length <= 4096;
    const count = isAtomic && room < chunk.length ? 0 : Math.min(room, chunk.length);
    if (count === 0) throw new Deno.errors.WouldBlock("Resource temporarily unavailable (os error 11)");
    this.got.push(...chunk.slice(0, count));
    return count;
  }
}

Deno.test("inheritedSink: a non-blocking stdout neither loses nor doubles a byte", () => {
  const chunk = fc.oneof(
    fc.stringMatching(/^[ab\n]{0,40}$/),
    fc.constantFrom("a".repeat(1023), "a".repeat(1024), "\n".repeat(5), "ab\n".repeat(2000), "x".repeat(5000)),
  );
  const rooms = fc.array(fc.constantFrom(0, 1, 7, 1000, 1023, 1024, 4095, 4096, 65_536), { maxLength: 6 });
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 6 }), rooms, fc.boolean(), (chunks, plan, isTerminal) => {
      let call = 0;
      const writer = new LineWriter(() => call < plan.length ? plan[call++]! : 65_536, isTerminal);
      const sink = inheritedSink(1, writer);
      for (const part of chunks) sink.write(bytes(part));
      assertEquals(new TextDecoder().decode(new Uint8Array(writer.got)), chunks.join(""));
    }),
    { numRuns: 150 },
  );
});

Deno.test("inheritedSink: partial writes go on, a gone reader is SinkClosed, other errors stay", () => {
  const got: number[] = [];
  let failure: Error | undefined;
  const file = {
    isTerminal: () => false,
    writeSync(chunk: Uint8Array) {
      if (failure !== undefined) throw failure;
      got.push(...chunk.subarray(0, 3));
      return Math.min(3, chunk.length);
    },
  };
  const sink = inheritedSink(2, file);
  sink.write(bytes("hello\nworld"));
  assertEquals(text(new Uint8Array(got)), "hello\nworld");
  assert(sink.budget() > 0);
  failure = new Deno.errors.BrokenPipe("Broken pipe (os error 32)");
  assertInstanceOf(thrown(() => sink.write(bytes("x"))), SinkClosed);
  failure = new Error("No space left on device (os error 28)");
  assertEquals(thrown(() => sink.write(bytes("x"))), failure);
});

/** A stdin whose answers are given in order; `later` resolves the read that is under way. */
function fakeStdin(...answers: (string | null | Error)[]) {
  const give = (buffer: Uint8Array, answer: string | null | Error | undefined) => {
    if (answer instanceof Error) throw answer;
    if (answer === null || answer === undefined) return null;
    buffer.set(bytes(answer));
    return answer.length;
  };
  let resume: (() => void) | undefined;
  return {
    asyncReads: 0,
    later: () => resume!(),
    readSync: (buffer: Uint8Array) => give(buffer, answers.shift()),
    async read(buffer: Uint8Array) {
      this.asyncReads++;
      if (!(answers[0] instanceof Error)) await new Promise<void>((done) => resume = done);
      return give(buffer, answers.shift());
    },
  };
}

Deno.test("inheritedStdin: blocking reads take what comes, then the end", () => {
  const source = inheritedStdin(fakeStdin("hello", "you", null));
  assertEquals(text(source.read(5)), "");
  assertEquals(text(source.blockingRead(2)), "he");
  assertEquals(text(source.read(9)), "llo");
  assertEquals(text(source.blockingRead(9)), "you");
  assertEquals(source.blockingRead(9), undefined);
  assertEquals([source.ready(), source.read(9)], [true, undefined]);
});

Deno.test("inheritedStdin: a read ahead and blocking reads mix without losing a byte", async () => {
  const file = fakeStdin("first", "second", null);
  const source = inheritedStdin(file);
  const waiting = source.wait();
  assertEquals([source.ready(), source.wait() === waiting, text(source.read(9))], [false, true, ""]);
  assertEquals(source.blockUntilReady!(), false);
  assertInstanceOf(thrown(() => source.blockingRead(3)), Deno.errors.WouldBlock);
  file.later();
  await waiting;
  assertEquals(text(source.blockingRead(3)), "fir");
  assertEquals([source.ready(), text(source.blockingRead(9))], [true, "st"]);
  assertEquals(text(source.blockingRead(9)), "second");
  assertEquals([source.blockingRead(9), file.asyncReads], [undefined, 1]);
});

Deno.test("inheritedStdin: a guest that waits for stdin alone blocks and reads nothing ahead", () => {
  const file = fakeStdin("text");
  const source = inheritedStdin(file);
  assertEquals([source.blockUntilReady!(), source.ready(), file.asyncReads], [true, true, 0]);
  assertEquals(text(source.read(9)), "text");
});

Deno.test("inheritedStdin: EAGAIN is waited out, another error is told, to waiters by being ready", async () => {
  const again = () => new Deno.errors.WouldBlock("Resource temporarily unavailable (os error 11)");
  assertEquals(text(inheritedStdin(fakeStdin(again(), again(), "x")).blockingRead(1)), "x");
  const failure = new Error("Input/output error (os error 5)");
  const source = inheritedStdin(fakeStdin(failure));
  await source.wait();
  assertEquals([source.ready(), thrown(() => source.read(1))], [true, failure]);
});

Deno.test("closedSource and closedSink: the end, and nobody", async () => {
  const source = closedSource();
  assertEquals([source.read(1), source.blockingRead(1), source.ready(), await source.wait()], [
    undefined,
    undefined,
    true,
    undefined,
  ]);
  assertInstanceOf(thrown(() => closedSink().write(bytes("x"))), SinkClosed);
});
