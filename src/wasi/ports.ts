/** What a {@link ByteSource} has now: bytes (empty is none yet), or `undefined` at its end. */
export type SourceChunk = Uint8Array | undefined;

/** Where a guest's stdin comes from. A failure is thrown as a plain Error and reaches the guest as a stream error. */
export interface ByteSource {
  /** Up to `maxBytes` (≥ 1) without waiting; empty when there is nothing yet. */
  read(maxBytes: number): SourceChunk;
  /**
   * Up to `maxBytes` (≥ 1), at least one byte, or the end. Holds up the thread.
   * @throws Deno.errors.WouldBlock where a read that cannot be taken back is under way: the guest may try again.
   */
  blockingRead(maxBytes: number): SourceChunk;
  /** Would {@link read} answer with bytes or the end? */
  ready(): boolean;
  /** Settles (never rejects) once {@link ready}. */
  wait(): Promise<void>;
  /** Holds up the thread until {@link ready}; false when it cannot now, absent where a source never can. */
  blockUntilReady?(): boolean;
}

/** Where a guest's stdout or stderr goes. */
export interface ByteSink {
  /** Bytes that {@link write} takes at once, always above 0. */
  budget(): number;
  /** Takes every byte, holding up the thread if it must. @throws SinkClosed when nobody reads any more. */
  write(bytes: Uint8Array): void;
}

/** Thrown by a {@link ByteSink} whose reader is gone (EPIPE). */
export class SinkClosed extends Error {
  override readonly name = "SinkClosed";
}
