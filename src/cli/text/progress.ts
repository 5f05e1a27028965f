import type { TextSink } from "../verb.ts";

/** From when on work is worth a word, and how often it gets one, ms. */
const PATIENCE_MS = 1000;
const PERIOD_MS = 100;

/** One line on a terminal that says how far something is, once it takes long; gone when it is done. */
export class Progress implements Disposable {
  readonly #sink: TextSink;
  readonly #label: string;
  readonly #now: () => number;
  #nextMs: number;
  #isShown = false;

  /** `now` counts milliseconds from anywhere. */
  constructor(sink: TextSink, label: string, now: () => number = () => performance.now()) {
    [this.#sink, this.#label, this.#now] = [sink, label, now];
    this.#nextMs = now() + PATIENCE_MS;
  }

  /** Says how far it is, unless that was said a moment ago. */
  show(text: string): void {
    if (!this.#sink.isTerminal || this.#now() < this.#nextMs) return;
    this.#nextMs = this.#now() + PERIOD_MS;
    this.#isShown = true;
    this.#sink.write(`\r\x1b[Kboll: ${this.#label}: ${text}`);
  }

  [Symbol.dispose](): void {
    if (this.#isShown) this.#sink.write("\r\x1b[K");
  }
}
