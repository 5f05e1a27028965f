/** Ends one open thing at once. It may be called when that is over already. */
type End = () => void;

/**
 * What one run has open to the outside, each with how it is ended at once: for a guest that is gone and has dropped
 * nothing, since it trapped, was given up, or left it to its end.
 */
export class OpenEnds {
  readonly #ends = new Set<End>();
  #isOver = false;

  /** Keeps `end` until what this gives is called. After {@link endAll} it is ended instead. */
  keep(end: End): () => void {
    if (this.#isOver) {
      end();
      return () => {};
    }
    const own = () => end();
    this.#ends.add(own);
    return () => this.#ends.delete(own);
  }

  /** Ends all, and whatever is opened from now on. */
  endAll(): void {
    this.#isOver = true;
    for (const end of this.#ends) end();
    this.#ends.clear();
  }
}
