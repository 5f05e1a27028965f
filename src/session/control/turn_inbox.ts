import type { ControlMsg, SwapIntel } from "../../protocol/control/mod.ts";

type Inject = Extract<ControlMsg, { type: "inject" }>;

/** Whether messages are turns. */
export interface TurnInboxOptions {
  readonly takesTurns: boolean;
}

/** What a supervisor tells a session with a model for its turns: further messages, answers to a gate, another model. */
export class TurnInbox {
  readonly #takesTurns: boolean;
  readonly #turns: string[] = [];
  #arrived = Promise.withResolvers<void>();
  #gate: { readonly node: string; readonly settle: (answer: string) => void } | undefined;
  #swap: SwapIntel | undefined;
  #turn: AbortController | undefined;

  constructor({ takesTurns }: TurnInboxOptions) {
    this.#takesTurns = takesTurns;
  }

  /** Takes a message; gives why nobody wants it. */
  inject({ message, node }: Inject): string | undefined {
    if (node !== undefined) {
      if (this.#gate?.node !== node) return "no such gate is open";
      this.#gate.settle(message);
      this.#gate = undefined;
      return undefined;
    }
    if (!this.#takesTurns) return "this session takes no further turns from its supervisor";
    this.#turns.push(message);
    this.#arrived.resolve();
    return undefined;
  }

  /** Keeps a swap until the next boundary; the last one wins. */
  offerSwap(swap: SwapIntel): void {
    this.#swap = swap;
  }

  /** The swap that waits, which then waits no more. */
  takeSwap(): SwapIntel | undefined {
    const swap = this.#swap;
    this.#swap = undefined;
    return swap;
  }

  /** The next message, in the order in which they came. */
  async nextTurn(): Promise<string> {
    for (;;) {
      const turn = this.#turns.shift();
      if (turn !== undefined) return turn;
      this.#arrived = Promise.withResolvers();
      await this.#arrived.promise;
    }
  }

  /** Begins a turn that can be ended by itself; gives what ends it. */
  beginTurn(): AbortSignal {
    this.#turn = new AbortController();
    return this.#turn.signal;
  }

  /** From here on there is no turn to be ended. */
  endTurn(): void {
    this.#turn = undefined;
  }

  /** Ends the turn that runs, and not the session; false when none does. */
  cancelTurn(): boolean {
    this.#turn?.abort("cancelled");
    return this.#turn !== undefined;
  }

  /** Waits for the answer to this gate. One is open at a time; whoever opens it again has given up the one before. */
  answerTo(node: string): Promise<string> {
    return new Promise((settle) => this.#gate = { node, settle });
  }
}
