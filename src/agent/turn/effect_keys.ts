import { createHash } from "node:crypto";

/**
 * The keys of a turn's effects (control protocol §4, `idempotency_prefix`). A replay that asks for the same has the same
 * keys; one that asks for something else has others, whatever its order.
 */
export class EffectKeys {
  readonly #prefix: string;
  readonly #times = new Map<string, number>();

  /** Without a prefix (`""`) there are none: nobody replays. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** The key of the next effect that is this call: of equal ones each has its own. */
  of(name: string, args: unknown): string | undefined {
    if (this.#prefix === "") return undefined;
    const what = createHash("sha256").update(JSON.stringify([name, args])).digest("hex").slice(0, 32);
    const times = (this.#times.get(what) ?? 0) + 1;
    this.#times.set(what, times);
    return `${this.#prefix}/${what}/${times}`;
  }
}
