import { GuestExit, LimitReached } from "./endings.ts";
import { cappedLength, HOSTED, requireBytes, requireHosted } from "./hosted.ts";
import { type InputStream, MAX_READ_BYTES } from "./input_stream.ts";
import { closed, failed } from "./io_error.ts";
import { ALWAYS_READY, Pollable } from "./pollable.ts";
import { type ByteSink, SinkClosed } from "./ports.ts";

const ZEROES = new Uint8Array(65_536);

/** What an output stream writes to, and what its drop gives back. */
export interface StreamSink extends ByteSink {
  close?(): void;
}

/**
 * `output-stream` of `wasi:io/streams`. Sinks take bytes at once, holding up the thread: so flushes have nothing to
 * do, and a write past what check-write gave is done and is no trap. After a failure every call answers `closed`.
 */
export class OutputStream {
  #sink: StreamSink | undefined;

  constructor(key: typeof HOSTED, sink: StreamSink) {
    requireHosted(key);
    this.#sink = sink;
  }

  checkWrite(): bigint {
    return BigInt(this.#open().budget());
  }

  write(contents: Uint8Array): void {
    this.#put(requireBytes(contents));
  }

  blockingWriteAndFlush(contents: Uint8Array): void {
    this.#put(requireBytes(contents));
  }

  flush(): void {
    this.#open();
  }

  blockingFlush(): void {
    this.#open();
  }

  subscribe(): Pollable {
    return new Pollable(HOSTED, ALWAYS_READY);
  }

  writeZeroes(length: bigint): void {
    if (typeof length !== "bigint") throw new TypeError("Write zeroes: found another type than u64");
    // A guest that writes past its permit breaks the stream's contract: a trap, and no endless write.
    if (length > BigInt(this.#open().budget())) throw new Error("Write zeroes: more than check-write allows");
    for (let left = length; left > 0n;) {
      const count = cappedLength(left, ZEROES.length);
      this.#put(ZEROES.subarray(0, count));
      left -= BigInt(count);
    }
  }

  blockingWriteZeroesAndFlush(length: bigint): void {
    this.writeZeroes(length);
  }

  splice(source: InputStream, length: bigint): bigint {
    return this.#pass((count) => source.read(count), length);
  }

  blockingSplice(source: InputStream, length: bigint): bigint {
    return this.#pass((count) => source.blockingRead(count), length);
  }

  [Symbol.dispose](): void {
    this.#end();
  }

  // Never more than the sink takes: what is read from the source must be written.
  #pass(read: (count: bigint) => Uint8Array, length: bigint): bigint {
    const count = cappedLength(length, Math.min(this.#open().budget(), MAX_READ_BYTES));
    if (count === 0) return 0n;
    const bytes = read(BigInt(count));
    this.#put(bytes);
    return BigInt(bytes.length);
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
      this.#end();
      if (error instanceof SinkClosed) throw closed();
      if (error instanceof LimitReached || error instanceof GuestExit) throw error;
      throw failed(error);
    }
  }

  #end(): void {
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.close?.();
  }
}
