import type { SinkQueue, StreamSink } from "../output_stream.ts";
import { SinkClosed } from "../ports.ts";
import { Watched } from "./watched.ts";

/** What a sink holds at most while somebody takes from it, bytes. */
export const QUEUE_BYTES = 65_536;

/**
 * A stream sink into a bounded queue, which an asynchronous consumer empties piece by piece: a slow consumer holds the
 * guest up.
 */
export class QueuedSink implements StreamSink {
  readonly queue: SinkQueue;
  readonly #room: Watched;
  readonly #empty: Watched;
  /** For the consumer: there is a piece, or the end. */
  readonly #supply: Watched;
  readonly #pieces: Uint8Array[] = [];
  readonly #idleBytes: number;
  /** Queued and under way. */
  #bytes = 0;
  #underWay = 0;
  #isTaken = false;
  #hasEnded = false;
  #failure: unknown;

  /** `idleBytes`: how much it holds while nobody has begun to take from it. */
  constructor(idleBytes: number = QUEUE_BYTES) {
    this.#idleBytes = idleBytes;
    this.#room = new Watched(() => this.#failure !== undefined || this.#hasEnded || this.#left() > 0);
    this.#empty = new Watched(() => this.#failure !== undefined || !this.#isTaken || this.#bytes === 0);
    this.#supply = new Watched(() => this.#failure !== undefined || this.#pieces.length > 0 || this.#hasEnded);
    this.queue = { room: this.#room, empty: this.#empty };
  }

  budget(): number {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#hasEnded) throw new SinkClosed("Write: the stream is shut");
    return this.#left();
  }

  write(bytes: Uint8Array): void {
    this.budget();
    if (bytes.length === 0) return;
    this.#pieces.push(bytes.slice());
    this.#bytes += bytes.length;
    this.#supply.wake();
  }

  /** No more will be written. */
  end(): void {
    this.#hasEnded = true;
    this.#supply.wake();
    this.#room.wake();
  }

  /** Every later write, and the consumer, fails with this; the first failure stays. */
  fail(failure: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    for (const watched of [this.#supply, this.#room, this.#empty]) watched.wake();
  }

  /** Settles when a piece or the end can be taken, or it has failed. */
  supplied(): Promise<void> {
    return this.#supply.until();
  }

  /** Whether a piece, the end or a failure is there. */
  get isSupplied(): boolean {
    return this.#supply.ready();
  }

  /** Whether it has ended with nothing left in it. */
  get isOver(): boolean {
    return this.#hasEnded && this.#pieces.length === 0;
  }

  /** All that is queued as one piece, or undefined at the end. What was taken before counts as written now. @throws its failure */
  async take(): Promise<Uint8Array | undefined> {
    this.#isTaken = true;
    this.#bytes -= this.#underWay;
    this.#underWay = 0;
    this.#room.wake();
    this.#empty.wake();
    await this.#supply.until();
    if (this.#failure !== undefined) throw this.#failure;
    const pieces = this.#pieces.splice(0);
    this.#underWay = this.#bytes;
    return pieces.length < 2 ? pieces[0] : join(pieces, this.#bytes);
  }

  #left(): number {
    if (this.#hasEnded) return 0;
    return Math.max((this.#isTaken ? QUEUE_BYTES : this.#idleBytes) - this.#bytes, 0);
  }
}

function join(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
