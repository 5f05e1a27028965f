import { CapsuleError } from "../base/mod.ts";

/** Bytes of one stream that may be under way without a credit. */
export const STREAM_WINDOW_BYTES = 256 * 1024;

/** Most bytes of one chunk, before base64. */
export const MAX_CHUNK_BYTES = 64 * 1024;

/** The sending side of one stream: how much may be sent now. */
export class CreditWindow {
  #bytes = STREAM_WINDOW_BYTES;
  #wake: (() => void) | undefined;

  /** The other side has taken so many bytes. */
  add(bytes: number): void {
    this.#bytes = Math.min(this.#bytes + bytes, STREAM_WINDOW_BYTES);
    this.#wake?.();
  }

  /** Waits until something may be sent, and takes up to `wanted` (≥ 1) of it, {@link MAX_CHUNK_BYTES} at most. */
  async take(wanted: number): Promise<number> {
    while (this.#bytes === 0) {
      await new Promise<void>((resolve) => this.#wake = resolve);
      this.#wake = undefined;
    }
    const taken = Math.min(wanted, this.#bytes, MAX_CHUNK_BYTES);
    this.#bytes -= taken;
    return taken;
  }
}

/** The receiving side of one stream: pieces in, pieces out, a credit for each that was taken. */
export class ChunkQueue {
  readonly #onCredit: (bytes: number) => void;
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #isOver = false;
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(onCredit: (bytes: number) => void) {
    this.#onCredit = onCredit;
  }

  /** Takes one piece from outside. @throws `protocol.unexpected` when it is behind the end or beyond the window */
  push(piece: Uint8Array, isLast: boolean): void {
    if (this.#isOver || this.#bytes + piece.length > STREAM_WINDOW_BYTES) {
      throw new CapsuleError("protocol.unexpected", "Read a stream: a chunk behind its end or beyond its window");
    }
    if (piece.length > 0) this.#pieces.push(piece);
    this.#bytes += piece.length;
    this.#isOver = isLast;
    this.#wake?.();
  }

  /** Nothing more comes. What is queued is dropped, and {@link pull} rejects with this. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#pieces = [];
    this.#bytes = 0;
    this.#wake?.();
  }

  /** The next piece, or undefined at the end. One call at a time. */
  async pull(): Promise<Uint8Array | undefined> {
    while (this.#pieces.length === 0 && !this.#isOver && this.#failure === undefined) {
      await new Promise<void>((resolve) => this.#wake = resolve);
      this.#wake = undefined;
    }
    if (this.#failure !== undefined) throw this.#failure.error;
    const piece = this.#pieces.shift();
    if (piece === undefined) return undefined;
    this.#bytes -= piece.length;
    if (!this.#isOver) this.#onCredit(piece.length);
    return piece;
  }
}
