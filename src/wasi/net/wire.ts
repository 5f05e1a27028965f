/** The part of a `Deno.Conn` that is used here. */
export interface Wire {
  /** Bytes read, or null at the end. */
  read(into: Uint8Array): Promise<number | null>;
  write(bytes: Uint8Array): Promise<number>;
  closeWrite(): Promise<void>;
  close(): void;
}

const BUFFER_BYTES = 65_536;

/** Reads from a wire through one buffer; what {@link buffered} gives is valid until the next {@link fill}. */
export class WireReader {
  readonly #wire: Pick<Wire, "read">;
  #buffer = new Uint8Array(BUFFER_BYTES);
  #start = 0;
  #end = 0;

  constructor(wire: Pick<Wire, "read">) {
    this.#wire = wire;
  }

  /** What has come and was not taken yet. */
  get buffered(): Uint8Array {
    return this.#buffer.subarray(this.#start, this.#end);
  }

  /** Takes bytes off the front. */
  take(count: number): void {
    this.#start += count;
    if (this.#start >= this.#end) this.#start = this.#end = 0;
  }

  /** Reads more; false at the end, or when the buffer is full. */
  async fill(): Promise<boolean> {
    if (this.#start > 0) {
      this.#buffer.copyWithin(0, this.#start, this.#end);
      this.#end -= this.#start;
      this.#start = 0;
    }
    if (this.#end === this.#buffer.length) return false;
    const count = await this.#wire.read(this.#buffer.subarray(this.#end));
    if (count === null) return false;
    this.#end += count;
    return true;
  }
}

/** Writes every byte. */
export async function writeWhole(wire: Pick<Wire, "write">, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await wire.write(at === 0 ? bytes : bytes.subarray(at));
}

/** Closes what may be closed already. */
export function closeQuietly(wire: Pick<Wire, "close">): void {
  try {
    wire.close();
  } catch { /* it is closed */ }
}
