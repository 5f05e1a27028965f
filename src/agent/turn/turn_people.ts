import type { DelegateCall, DelegateRefusal, DelegateStarted } from "../../protocol/mod.ts";
import type { TurnDelegations } from "../../session/role.ts";
import type { AskUser } from "../tools/own_tools.ts";

/** Whom the tools of a session reach while a turn runs: who gave its task, and whoever it delegates to. */
export class TurnPeople {
  #ask: AskUser | undefined;
  #delegations: TurnDelegations | undefined;

  /** From now on it is this turn's. Nobody's is between two. */
  change(ask: AskUser | undefined, delegations: TurnDelegations | undefined): void {
    this.#ask = ask;
    this.#delegations = delegations;
  }

  /** Whether the turn waits for that delegation. */
  isWaiting(delegationId: string): boolean {
    return this.#delegations?.isWaiting(delegationId) ?? false;
  }

  async ask(question: string, signal: AbortSignal): ReturnType<AskUser> {
    return await this.#ask?.(question, signal) ?? { refused: "nobody is there to ask" };
  }

  async start(call: DelegateCall): Promise<DelegateStarted | DelegateRefusal> {
    return await this.#delegations?.start(call) ??
      { kind: "refused", message: "Delegate: this run may delegate to nobody" };
  }

  async ended(delegationId: string): Promise<string> {
    return await this.#delegations!.ended(delegationId);
  }
}
