import { cappedLength, HOSTED, requireHosted } from "./hosted.ts";
import { closed, failed } from "./io_error.ts";
import { ALWAYS_READY, Pollable, type Readiness } from "./pollable.ts";
import type { ByteSource, SourceChunk } from "./ports.ts";

/** Most bytes that one call reads: 64 KiB for pipes is what the kernel holds, more pays for files. */
export const MAX_READ_BYTES = 1024 * 1024;

/** What an input stream reads from, and what its drop gives back. */
export interface StreamSource extends ByteSource {
  /** Absent: always ready, {@link ByteSource.wait} is never called. */
  readonly readiness?: Readiness;
  close?(): void;
}

/** `input-stream` of `wasi:io/streams`. After its end or a failure every call answers `closed`. */
export class InputStream {
  #source: StreamSource | undefined;

  constructor(key: typeof HOSTED, source: StreamSource) {
    requireHosted(key);
    this.#source = source;
  }

  read(length: bigint): Uint8Array {
    return this.#take((source, count) => source.read(count) as SourceChunk, length) as Uint8Array;
  }

  blockingRead(length: bigint): Uint8Array | Promise<Uint8Array> {
    return this.#take((source, count) => source.blockingRead(count), length);
  }

  skip(length: bigint): bigint {
    return BigInt(this.read(length).length);
  }

  blockingSkip(length: bigint): bigint | Promise<bigint> {
    const bytes = this.blockingRead(length);
    return bytes instanceof Promise ? bytes.then((done) => BigInt(done.length)) : BigInt(bytes.length);
  }

  subscribe(): Pollable {
    return new Pollable(HOSTED, this.#source?.readiness ?? ALWAYS_READY);
  }

  [Symbol.dispose](): void {
    this.#end();
  }

  #take(
    read: (source: StreamSource, count: number) => SourceChunk | Promise<SourceChunk>,
    length: bigint,
  ): Uint8Array | Promise<Uint8Array> {
    const count = cappedLength(length, MAX_READ_BYTES);
    const source = this.#source;
    if (source === undefined) throw closed();
    if (count === 0) return new Uint8Array(0);
    let chunk;
    try {
      chunk = read(source, count);
    } catch (error) {
      throw this.#fail(error);
    }
    if (!(chunk instanceof Promise)) return this.#deliver(chunk);
    return chunk.then((done) => this.#deliver(done), (error) => Promise.reject(this.#fail(error)));
  }

  #deliver(chunk: SourceChunk): Uint8Array {
    if (chunk !== undefined) return chunk;
    this.#end();
    throw closed();
  }

  #fail(error: unknown) {
    this.#end();
    return failed(error);
  }

  #end(): void {
    const source = this.#source;
    this.#source = undefined;
    source?.close?.();
  }
}
