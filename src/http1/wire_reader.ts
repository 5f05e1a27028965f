import type { Wire } from "./wire.ts";

const FIRST_BYTES = 8 * 1024;
const MOST_BYTES = 64 * 1024;

/**
 * What has come from a wire and was not taken yet, in one buffer that grows to 64 KiB and no further: the bytes after a
 * head belong to the body or the tunnel.
 */
export class WireReader {
  readonly #wire: Wire;
  #buffer = new Uint8Array(FIRST_BYTES);
  #start = 0;
  #end = 0;
  #isBusy = false;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** What is there; valid until the next `fill` or `next`. */
  get buffered(): Uint8Array {
    return this.#buffer.subarray(this.#start, this.#end);
  }

  /** Takes that many of the buffered bytes. */
  take(count: number): void {
    this.#start += count;
    if (this.#start >= this.#end) this.#start = this.#end = 0;
  }

  /** Reads more behind what is there, one time; false at the end of the stream. A full buffer of 64 KiB is a bug. */
  async fill(): Promise<boolean> {
    this.#makeRoom();
    const room = this.#buffer.subarray(this.#end);
    const count = await this.#wire.read(room);
    if (count === null) return false;
    this.#isBusy = count === room.length;
    this.#end += count;
    return true;
  }

  /** The next bytes, all taken; undefined at the end. Valid until the next call. */
  async next(): Promise<Uint8Array | undefined> {
    if (this.#end === this.#start && !await this.fill()) return undefined;
    const bytes = this.buffered;
    this.#start = this.#end = 0;
    return bytes;
  }

  /** A buffer that was filled in one read is too small for what comes. */
  #makeRoom(): void {
    const held = this.buffered;
    if (this.#isBusy && held.length === 0 && this.#buffer.length < MOST_BYTES) {
      this.#buffer = new Uint8Array(MOST_BYTES);
    }
    if (this.#end < this.#buffer.length) return;
    if (held.length >= MOST_BYTES) throw new RangeError("Read a wire: the buffer is full");
    const larger = new Uint8Array(Math.min(this.#buffer.length * 2, MOST_BYTES));
    larger.set(held);
    [this.#buffer, this.#start, this.#end] = [larger, 0, held.length];
  }
}

/** Writes all of it. */
export async function writeWhole(wire: Pick<Wire, "write">, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) written += await wire.write(bytes.subarray(written));
}

/** Closes; an end that is closed already is as well. */
export function closeQuietly(wire: Wire): void {
  try {
    wire.close();
  } catch { /* it is closed */ }
}
