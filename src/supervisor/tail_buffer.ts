/** Keeps the last `maxBytes` of a stream and drops the rest, so that a flood costs no memory. */
export class TailBuffer {
  /** Settles at the end of the stream. */
  readonly drained: Promise<void>;
  readonly #maxBytes: number;
  #tail: Uint8Array = new Uint8Array(0);

  constructor(stream: ReadableStream<Uint8Array>, maxBytes = 16 * 1024) {
    this.#maxBytes = maxBytes;
    this.drained = this.#drain(stream);
  }

  /** What is kept, as text; bytes that are not UTF-8 are replaced. */
  text(): string {
    return new TextDecoder().decode(this.#tail);
  }

  async #drain(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const chunk of stream) {
      const joined = new Uint8Array(Math.min(this.#tail.length + chunk.length, this.#maxBytes));
      const fromChunk = chunk.subarray(Math.max(0, chunk.length - joined.length));
      const room = joined.length - fromChunk.length;
      joined.set(this.#tail.subarray(this.#tail.length - room));
      joined.set(fromChunk, room);
      this.#tail = joined;
    }
  }
}
