import type { Clock } from "../../src/door/mod.ts";

/** A clock that a test moves. */
export class ManualClock implements Clock {
  #now = Date.UTC(2030, 0, 1);
  readonly #timers = new Set<{ readonly at: number; readonly ms: number; readonly action: () => void }>();
  #watching: { readonly ms: number; readonly resolve: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, action: () => void): () => void {
    const timer = { at: this.#now + ms, ms, action };
    this.#timers.add(timer);
    for (const { resolve } of this.#watching.filter((watch) => watch.ms === ms)) resolve();
    this.#watching = this.#watching.filter((watch) => watch.ms !== ms);
    return () => this.#timers.delete(timer);
  }

  /** Settles when something waits for that long. */
  async isAwaited(ms: number): Promise<void> {
    if ([...this.#timers].some((timer) => timer.ms === ms)) return;
    await new Promise<void>((resolve) => this.#watching.push({ ms, resolve }));
  }

  /** Moves it, and calls what is due, in order. */
  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.action();
    }
    this.#now = until;
  }
}
