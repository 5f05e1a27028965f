import type { Supervisor } from "../../supervisor/tree/mod.ts";

type Budget = Pick<Supervisor["budget"], "ceiling" | "spent" | "keep">;

/** The part of a served capsule's tokens that all its peers may spend together. */
const PEER_SHARE = 0.5;

/**
 * Keeps what is left of a tree's tokens for its owner while the task of a peer runs, beyond what peers may have: as they
 * may have half of the queue. What the task delegates to is bounded with it.
 */
export class PeerShare {
  readonly #budget: Budget;
  #left: number;
  /** What was spent when the task of a peer began, that runs. */
  #before: number | undefined;

  /** @param tokens of the tree, for its whole life */
  constructor(budget: Budget, tokens: number) {
    this.#budget = budget;
    this.#left = Math.floor(tokens * PEER_SHARE);
  }

  /** A task begins. */
  begin(isPeers: boolean): void {
    this.end();
    if (!isPeers) return;
    const { ceiling, spent } = this.#budget;
    this.#before = spent;
    this.#budget.keep(ceiling - spent - Math.max(0, this.#left));
  }

  /** No task runs any more. */
  end(): void {
    if (this.#before !== undefined) this.#left -= this.#budget.spent - this.#before;
    this.#before = undefined;
    this.#budget.keep(0);
  }
}
