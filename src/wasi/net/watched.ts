import type { Readiness } from "../pollable.ts";

/** A readiness that somebody announces: `wake` tells all who watch that it may be ready. */
export class Watched implements Readiness {
  readonly #isReady: () => boolean;
  readonly #onWatch: () => void;
  readonly #watchers = new Set<() => void>();

  /** `onWatch` is called before anybody waits, so that what is waited for can be begun. */
  constructor(isReady: () => boolean, onWatch: () => void = () => {}) {
    this.#isReady = isReady;
    this.#onWatch = onWatch;
  }

  ready(): boolean {
    return this.#isReady();
  }

  watch(wake: () => void): () => void {
    this.#watchers.add(wake);
    this.#onWatch();
    if (this.#isReady()) queueMicrotask(wake);
    return () => this.#watchers.delete(wake);
  }

  /** Tells all who watch. */
  wake(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }

  /** Settles once ready. */
  async until(): Promise<void> {
    while (!this.#isReady()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const stop = this.watch(resolve);
      await promise;
      stop();
    }
  }
}
