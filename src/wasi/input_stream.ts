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
  /**
   * Its bytes come while the thread is free: a blocking read of it that has to wait is a promise. Only for guests whose
   * imports make blocking reads suspending ones.
   */
  readonly suspends?: true;
  close?(): void;
}

/**
 * `input-stream` of `wasi:io/streams`. After its end or a failure every call answers `closed`. A blocking call answers
 * at once, but for a source that {@link StreamSource.suspends}.
 */
export class InputStream {
  #source: StreamSource | undefined;

  constructor(key: typeof HOSTED, source: StreamSource) {
    requireHosted(key);
    this.#source = source;
  }

  read(length: bigint): Uint8Array {
    return this.#take((source, count) => source.read(count), length);
  }

  blockingRead(length: bigint): Uint8Array | Promise<Uint8Array> {
    const source = this.#source;
    if (source?.suspends && cappedLength(length, 1) > 0) return this.#await(source, length);
    return this.#take((source, count) => source.blockingRead(count), length);
  }

  skip(length: bigint): bigint {
    return BigInt(this.read(length).length);
  }

  blockingSkip(length: bigint): bigint | Promise<bigint> {
    const bytes = this.blockingRead(length);
    return bytes instanceof Promise ? bytes.then(({ length }) => BigInt(length)) : BigInt(bytes.length);
  }

  subscribe(): Pollable {
    return new Pollable(HOSTED, this.#source?.readiness ?? ALWAYS_READY);
  }

  [Symbol.dispose](): void {
    this.#end();
  }

  #await(source: StreamSource, length: bigint): Uint8Array | Promise<Uint8Array> {
    if (source.ready()) return this.read(length);
    return source.wait().then(() => this.read(length));
  }

  #take(read: (source: StreamSource, count: number) => SourceChunk, length: bigint): Uint8Array {
    const count = cappedLength(length, MAX_READ_BYTES);
    const source = this.#source;
    if (source === undefined) throw closed();
    if (count === 0) return new Uint8Array(0);
    let chunk;
    try {
      chunk = read(source, count);
    } catch (error) {
      if (!(error instanceof Deno.errors.WouldBlock)) this.#end();
      throw failed(error);
    }
    if (chunk !== undefined) return chunk;
    this.#end();
    throw closed();
  }

  #end(): void {
    const source = this.#source;
    this.#source = undefined;
    source?.close?.();
  }
}
