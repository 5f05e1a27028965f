import { CapsuleError } from "../../base/mod.ts";
import type { ChildEnded } from "../../session/mod.ts";

/**
 * Delegations of one session that it may leave unasked for. One that follows the protocol asks at once; each end is
 * about 128 KiB of memory, so that one that never asks holds at most 8 MiB.
 */
export const MAX_UNHEARD = 64;

/** The ends of one session's delegations that it has not heard of. */
export class UnheardEnds {
  readonly #ends = new Map<string, Promise<ChildEnded>>();
  readonly #asked = new Set<string>();
  readonly #max: number;

  constructor(max = MAX_UNHEARD) {
    this.#max = max;
  }

  /** Why nothing more may be started before an end is asked for; nothing when it may. No end is ever given up for it. */
  get refusal(): string | undefined {
    if (this.#ends.size - this.#asked.size < this.#max) return undefined;
    return `Delegate: ${this.#max} delegations were started and never asked for their ends, ask for one first (unheard)`;
  }

  add(delegationId: string, end: Promise<ChildEnded>): void {
    this.#ends.set(delegationId, end);
  }

  /** Waits for an end and forgets it. @throws `tree.not_running` when there is none of that id */
  async take(delegationId: string): Promise<ChildEnded> {
    const end = this.#ends.get(delegationId);
    if (end === undefined) {
      throw new CapsuleError("tree.not_running", "Wait for a delegation: this session has none of that id");
    }
    this.#asked.add(delegationId);
    try {
      return await end;
    } finally {
      this.#ends.delete(delegationId);
      this.#asked.delete(delegationId);
    }
  }
}
