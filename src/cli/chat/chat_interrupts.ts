import type { Interrupts } from "../run/launch.ts";
import type { Context } from "../verb.ts";

/** What a signal asks of a conversation: an end of what it is at, or of all. */
export type ChatInterrupt = "interrupt" | "end";

/** The signals of a conversation: until it begins they end what it is built from, then whoever talks hears them. */
export class ChatInterrupts {
  readonly #context: Pick<Context, "hearInterrupts">;
  readonly #first = new AbortController();
  readonly #second = new AbortController();
  #hear = (_: ChatInterrupt): void => (this.#first.signal.aborted ? this.#second : this.#first).abort();

  constructor(context: Pick<Context, "hearInterrupts">) {
    this.#context = context;
  }

  /** From now on no signal ends this process by itself. */
  watch(): Interrupts {
    this.#context.hearInterrupts?.((kind) => this.#hear(kind));
    return { first: this.#first.signal, second: this.#second.signal };
  }

  /** From now on they are told. */
  hear(hear: (kind: ChatInterrupt) => void): void {
    this.#hear = hear;
  }
}
