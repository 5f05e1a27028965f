/** What may wait for a child that is slow to read. */
export const MAX_QUEUED_FRAMES = 64;
export const MAX_QUEUED_BYTES = 32 * 1024 * 1024;

/** Where a queue writes to; each write waits for the one before. */
export interface FrameSink {
  write(frame: Uint8Array): Promise<void>;
  close(): Promise<void>;
  abort(): Promise<void>;
}

/** Frames on their way to one child, in order and whole. Whoever pushes never waits. */
export class WriteQueue {
  readonly #sink: FrameSink;
  #frames = 0;
  #bytes = 0;
  #last: Promise<void> = Promise.resolve();
  #shut = false;

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  /** Frames that wait. */
  get frames(): number {
    return this.#frames;
  }

  /** Bytes that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes the frame, or says that the queue is full; after the end nothing is written and nothing is wrong. */
  push(frame: Uint8Array): boolean {
    if (this.#shut) return true;
    if (this.#frames >= MAX_QUEUED_FRAMES || this.#bytes + frame.length > MAX_QUEUED_BYTES) return false;
    this.#frames++;
    this.#bytes += frame.length;
    this.#last = this.#last.then(() => this.#write(frame));
    return true;
  }

  /** Ends the stream once what waits is written. */
  close(): void {
    if (this.#shut) return;
    this.#shut = true;
    this.#last.then(() => this.#sink.close()).catch(() => {});
  }

  /** Ends it now and forgets what waits. */
  abort(): void {
    this.#shut = true;
    this.#sink.abort().catch(() => {});
  }

  /** A child that is gone fails every write; its exit says why. */
  async #write(frame: Uint8Array): Promise<void> {
    try {
      await this.#sink.write(frame);
    } catch { /* see above */ }
    this.#frames--;
    this.#bytes -= frame.length;
  }
}
