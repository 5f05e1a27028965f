import type { DelegateCall } from "../../protocol/mod.ts";
import type { TraceWriter } from "../../records/mod.ts";
import type { ChildLauncher } from "../delegations/child_launcher.ts";
import type { Delegator } from "../delegations/delegator.ts";
import { recordedDelegator } from "../delegations/recorded_delegator.ts";

/** Who starts the children of one turn, and ends with the turn those that are left. */
export class TurnDelegations implements Delegator {
  readonly #launcher: ChildLauncher;
  readonly #delegator: Delegator;
  readonly #underWay = new Set<string>();
  #isOver = false;

  constructor(launcher: ChildLauncher, trace: Pick<TraceWriter, "append">) {
    this.#launcher = launcher;
    this.#delegator = recordedDelegator(launcher, trace);
  }

  /** Whether the turn waits for that delegation. */
  isWaiting(delegationId: string): boolean {
    return this.#underWay.has(delegationId);
  }

  async start(call: DelegateCall): ReturnType<Delegator["start"]> {
    const answer = await this.#delegator.start(call);
    if ("kind" in answer) return answer;
    this.#underWay.add(answer.delegation_id);
    // It came after its turn: nobody would ever read it.
    if (this.#isOver) this.#launcher.stop(answer.delegation_id).catch(() => {});
    return answer;
  }

  async ended(delegationId: string): Promise<string> {
    try {
      return await this.#delegator.ended(delegationId);
    } finally {
      this.#underWay.delete(delegationId);
    }
  }

  /** Ends what is under way; settles when the supervisor has been told to. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.allSettled([...this.#underWay].map((id) => this.#launcher.stop(id)));
  }
}
