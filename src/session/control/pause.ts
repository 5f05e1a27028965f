import type { CellProcess } from "../../supervisor/mod.ts";

/**
 * Holds a guest where it stands, and lets it go on. Before it was called it is simply not called; from then on its
 * process is stopped. Its deadline goes on meanwhile, as its supervisor's own does: who waits for the answer was promised
 * a time.
 */
export class Pause {
  #cell: Pick<CellProcess, "kill"> | undefined;
  #held: PromiseWithResolvers<void> | undefined;

  get isHeld(): boolean {
    return this.#held !== undefined;
  }

  /** Holds the guest; false when it was held already. */
  hold(): boolean {
    if (this.#held !== undefined) return false;
    this.#held = Promise.withResolvers<void>();
    this.#cell?.kill("SIGSTOP");
    return true;
  }

  /** Lets the guest go on; false when it was not held. */
  release(): boolean {
    if (this.#held === undefined) return false;
    this.#held.resolve();
    this.#held = undefined;
    this.#cell?.kill("SIGCONT");
    return true;
  }

  /** Settles once nothing is held. */
  async passed(): Promise<void> {
    while (this.#held !== undefined) await this.#held.promise;
  }

  /** Settles once the guest of `cell` may be called; from then on that process is what is stopped. */
  async enter(cell: Pick<CellProcess, "kill">): Promise<void> {
    await this.passed();
    this.#cell = cell;
  }
}
