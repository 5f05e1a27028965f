import { closeQuietly, type Wire } from "../http1/mod.ts";
import { type GateError, Refusal } from "./refusal.ts";

/** Bytes that all connections of a gate may still move. */
export interface Budget {
  rest: number;
}

/** The two wires of one connection through the gate: what went over them, who watches, and why they ended. */
export class Exchange {
  readonly #wires: Wire[] = [];
  readonly #budget: Budget;
  #giveUp: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastMs = 0;
  #isOver = false;
  #error: GateError | undefined;
  bytesUp = 0;
  bytesDown = 0;

  constructor(budget: Budget, client: Wire) {
    this.#budget = budget;
    this.#wires.push(client);
  }

  /** What ended it before its time; the first reason stays. */
  get error(): GateError | undefined {
    return this.#error;
  }

  /** Whether its wires are closed. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Takes charge of the wire to the origin. */
  adopt(origin: Wire): void {
    this.#wires.push(origin);
    if (this.#isOver) closeQuietly(origin);
  }

  /**
   * What is waited for while there is no wire to close: at its end the signal is aborted. (Not for its whole life: an
   * abort makes an error object, which costs more than all else here.)
   */
  async waitFor<T>(start: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const abort = new AbortController();
    if (this.#isOver) abort.abort();
    this.#giveUp = () => abort.abort();
    try {
      return await start(abort.signal);
    } finally {
      this.#giveUp = undefined;
    }
  }

  /** Ends the exchange, for `error`, when for so long nobody says {@link touch}. Replaces an earlier watch. */
  watch(ms: number, error: GateError): void {
    clearTimeout(this.#timer);
    this.touch();
    const look = () => {
      const left = this.#lastMs + ms - performance.now();
      if (left <= 0) this.end(error);
      else this.#timer = setTimeout(look, left);
    };
    this.#timer = setTimeout(look, ms);
  }

  /** Ends the watch. */
  unwatch(): void {
    clearTimeout(this.#timer);
  }

  /** Says that something has moved. */
  touch(): void {
    this.#lastMs = performance.now();
  }

  /**
   * Counts bytes that are about to be passed on.
   *
   * @throws {Refusal} `bytes-limit` when the gate's budget does not hold them.
   */
  count(way: "up" | "down", bytes: number): void {
    if (bytes > this.#budget.rest) throw new Refusal("bytes-limit", "Pass bytes on: the limit of bytes is reached");
    this.#budget.rest -= bytes;
    if (way === "up") this.bytesUp += bytes;
    else this.bytesDown += bytes;
    this.touch();
  }

  /** Closes both wires, so that whatever waits on one is free. */
  end(error?: GateError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#error ??= error;
    clearTimeout(this.#timer);
    for (const wire of this.#wires) closeQuietly(wire);
    this.#giveUp?.();
  }

  /** Closes the wire to the origin, while the client is still told something. */
  endOrigin(): void {
    for (const wire of this.#wires.splice(1)) closeQuietly(wire);
  }

  /** Keeps why it went wrong, while the client can still be told. */
  fail(error: GateError): void {
    this.#error ??= error;
  }
}
