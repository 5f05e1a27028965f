import type { StreamSource } from "../input_stream.ts";
import type { SourceChunk } from "../ports.ts";
import { Watched } from "./watched.ts";

const nothing = new Uint8Array(0);

/** The next bytes (never empty), or undefined at the end; rejects once. Valid until it is called again. */
export type Pull = () => Promise<Uint8Array | undefined>;

/**
 * A stream source over an asynchronous producer. It asks for the next piece only when the guest has taken the last and
 * reads on or waits: so a guest that does not read holds the producer up.
 */
export class PulledSource implements StreamSource {
  readonly suspends = true;
  readonly readiness: Watched;
  readonly #pull: Pull;
  readonly #onClose: () => void;
  #piece: Uint8Array = nothing;
  #hasEnded = false;
  #failure: unknown;
  #isPulling = false;

  constructor(pull: Pull, onClose: () => void) {
    this.#pull = pull;
    this.#onClose = onClose;
    this.readiness = new Watched(() => this.ready(), () => this.#begin());
  }

  read(maxBytes: number): SourceChunk {
    if (this.#piece.length > 0) {
      const chunk = this.#piece.subarray(0, maxBytes);
      this.#piece = this.#piece.subarray(chunk.length);
      return chunk;
    }
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#hasEnded) return undefined;
    this.#begin();
    return nothing;
  }

  blockingRead(maxBytes: number): SourceChunk {
    return this.read(maxBytes);
  }

  ready(): boolean {
    return this.#piece.length > 0 || this.#hasEnded || this.#failure !== undefined;
  }

  wait(): Promise<void> {
    return this.readiness.until();
  }

  /** Ends the stream early, from the host's side: what follows is the end. */
  cut(): void {
    this.#piece = nothing;
    this.#hasEnded = true;
    this.readiness.wake();
  }

  close(): void {
    this.#onClose();
  }

  #begin(): void {
    if (this.#isPulling || this.ready()) return;
    this.#isPulling = true;
    this.#pull().then((piece) => {
      if (piece === undefined) this.#hasEnded = true;
      else if (!this.#hasEnded) this.#piece = piece;
    }, (error) => this.#failure = error).finally(() => {
      this.#isPulling = false;
      this.readiness.wake();
    });
  }
}
