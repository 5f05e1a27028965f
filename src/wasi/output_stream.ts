import { GuestExit, LimitReached } from "./endings.ts";
import { cappedLength, HOSTED, requireBytes, requireHosted } from "./hosted.ts";
import { type InputStream, MAX_READ_BYTES } from "./input_stream.ts";
import { closed, failed } from "./io_error.ts";
import { ALWAYS_READY, Pollable, type Readiness } from "./pollable.ts";
import { type ByteSink, SinkClosed } from "./ports.ts";

const ZEROES = new Uint8Array(65_536);

/** What an output stream writes to, and what its drop gives back. */
export interface StreamSink extends ByteSink {
  /** Present where bytes go out while the thread is free; its budget may be 0, and throws once writing has failed. */
  readonly queue?: SinkQueue;
  close?(): void;
}

/** What a sink that takes bytes into a bounded queue can be asked to wait for; failed counts as ready. */
export interface SinkQueue {
  /** The budget is above 0. */
  readonly room: Readiness & { until(): Promise<void> };
  /** Nothing is queued. */
  readonly empty: Readiness & { until(): Promise<void> };
}

/**
 * `output-stream` of `wasi:io/streams`. Most sinks take bytes at once, holding up the thread: so flushes have nothing to
 * do, and a write past what check-write gave is done and is no trap. Those with a queue wait: their blocking calls are
 * promises, and a write past the budget is a trap. After a failure every call answers `closed`.
 */
export class OutputStream {
  #sink: StreamSink | undefined;

  constructor(key: typeof HOSTED, sink: StreamSink) {
    requireHosted(key);
    this.#sink = sink;
  }

  checkWrite(): bigint {
    return BigInt(this.#budget());
  }

  write(contents: Uint8Array): void {
    this.#putWithin(requireBytes(contents));
  }

  blockingWriteAndFlush(contents: Uint8Array): void | Promise<void> {
    const bytes = requireBytes(contents);
    const queue = this.#open().queue;
    if (queue === undefined) return this.#put(bytes);
    return this.#putAll(queue, bytes);
  }

  flush(): void {
    this.#budget();
  }

  blockingFlush(): void | Promise<void> {
    const queue = this.#open().queue;
    if (queue !== undefined) return this.#drain(queue);
  }

  subscribe(): Pollable {
    return new Pollable(HOSTED, this.#sink?.queue?.room ?? ALWAYS_READY);
  }

  writeZeroes(length: bigint): void {
    if (typeof length !== "bigint") throw new TypeError("Write zeroes: found another type than u64");
    // A guest that writes past its permit breaks the stream's contract: a trap, and no endless write.
    if (length > BigInt(this.#budget())) throw new Error("Write zeroes: more than check-write allows");
    for (let left = length; left > 0n;) {
      const count = cappedLength(left, ZEROES.length);
      this.#put(ZEROES.subarray(0, count));
      left -= BigInt(count);
    }
  }

  blockingWriteZeroesAndFlush(length: bigint): void | Promise<void> {
    const queue = this.#open().queue;
    if (queue === undefined) return this.writeZeroes(length);
    return this.#putZeroes(queue, length);
  }

  splice(source: InputStream, length: bigint): bigint {
    return this.#pass(source.read(this.#spliceLength(length)));
  }

  blockingSplice(source: InputStream, length: bigint): bigint | Promise<bigint> {
    const queue = this.#open().queue;
    if (queue !== undefined && !queue.room.ready()) {
      return queue.room.until().then(() => this.blockingSplice(source, length));
    }
    const bytes = source.blockingRead(this.#spliceLength(length));
    return bytes instanceof Promise ? bytes.then((bytes) => this.#pass(bytes)) : this.#pass(bytes);
  }

  [Symbol.dispose](): void {
    this.#end();
  }

  // Never more than the sink takes: what is read from the source must be written.
  #spliceLength(length: bigint): bigint {
    return BigInt(cappedLength(length, Math.min(this.#budget(), MAX_READ_BYTES)));
  }

  #pass(bytes: Uint8Array): bigint {
    if (bytes.length > 0) this.#put(bytes);
    return BigInt(bytes.length);
  }

  async #putAll(queue: SinkQueue, bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      await queue.room.until();
      const part = bytes.subarray(at, at + this.#budget());
      this.#put(part);
      at += part.length;
    }
    await this.#drain(queue);
  }

  async #putZeroes(queue: SinkQueue, length: bigint): Promise<void> {
    if (typeof length !== "bigint") throw new TypeError("Write zeroes: found another type than u64");
    for (let left = length; left > 0n;) {
      await queue.room.until();
      const count = cappedLength(left, Math.min(this.#budget(), ZEROES.length));
      this.#put(ZEROES.subarray(0, count));
      left -= BigInt(count);
    }
    await this.#drain(queue);
  }

  async #drain(queue: SinkQueue): Promise<void> {
    await queue.empty.until();
    this.#budget();
  }

  /** @throws StreamError when writing has failed meanwhile */
  #budget(): number {
    const sink = this.#open();
    try {
      return sink.budget();
    } catch (error) {
      throw this.#fail(error);
    }
  }

  #putWithin(bytes: Uint8Array): void {
    if (this.#open().queue !== undefined && bytes.length > this.#budget()) {
      throw new Error("Write: more than check-write allows");
    }
    this.#put(bytes);
  }

  #open(): StreamSink {
    if (this.#sink === undefined) throw closed();
    return this.#sink;
  }

  #put(bytes: Uint8Array): void {
    const sink = this.#open();
    try {
      sink.write(bytes);
    } catch (error) {
      throw this.#fail(error);
    }
  }

  #fail(error: unknown): unknown {
    this.#end();
    if (error instanceof SinkClosed) return closed();
    if (error instanceof LimitReached || error instanceof GuestExit) return error;
    return failed(error);
  }

  #end(): void {
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.close?.();
  }
}
