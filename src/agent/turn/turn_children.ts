import { CapsuleError } from "../../base/mod.ts";
import type { DelegateCall, DelegateRefusal, DelegateStarted } from "../../protocol/mod.ts";
import type { TurnDelegations } from "../../session/role.ts";

/** What a turn has delegated: started at once, and read once, when all of it has ended. */
export class TurnChildren {
  readonly #delegations: Pick<TurnDelegations, "start" | "ended">;
  readonly #ended: Promise<string>[] = [];

  constructor(delegations: Pick<TurnDelegations, "start" | "ended">) {
    this.#delegations = delegations;
  }

  /** Whether there is something that was not read. */
  get isOpen(): boolean {
    return this.#ended.length > 0;
  }

  async start(call: DelegateCall): Promise<DelegateStarted | DelegateRefusal> {
    const answer = await this.#delegations.start(call);
    if (!("kind" in answer)) this.#ended.push(this.#outcome(answer.delegation_id));
    return answer;
  }

  /** Settles when all has ended, with what is to be read of it, in the order in which it was started. */
  async outcomes(): Promise<string> {
    const texts = await Promise.all(this.#ended.splice(0));
    return texts.join("\n\n");
  }

  async #outcome(id: string): Promise<string> {
    try {
      return await this.#delegations.ended(id);
    } catch (error) {
      if (!(error instanceof CapsuleError)) throw error;
      return `[delegate-task] delegation ${id}: how it ended is not known`;
    }
  }
}
