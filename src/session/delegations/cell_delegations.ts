import { boundedHead, isId } from "../../base/mod.ts";
import {
  type DelegateAnswer,
  type DelegateCall,
  type HostDelegateCall,
  MAX_END_TEXT,
  MAX_REFUSAL,
  type ToCell,
} from "../../protocol/mod.ts";
import type { Delegator } from "./delegator.ts";

/** Delegations of one cell that may be under way, those that are being started included. */
export const MAX_DELEGATIONS = 64;

/** The delegations of one cell: what its guest asks for goes to the delegator, and what becomes of it comes back. */
export class CellDelegations {
  readonly #delegator: Delegator;
  #underWay = 0;

  constructor(delegator: Delegator) {
    this.#delegator = delegator;
  }

  /** Answers a call, and tells the end after the answer, whichever came first. Never rejects. */
  async answer({ id, args }: HostDelegateCall, send: (message: ToCell) => void): Promise<void> {
    if (this.#underWay >= MAX_DELEGATIONS) return send({ type: "host_result", id, ...TOO_MANY });
    this.#underWay++;
    try {
      const answer = await this.#start(args);
      send({ type: "host_result", id, ...answer });
      if ("error" in answer) return;
      const { delegation_id } = answer.value;
      send({ type: "delegation_end", delegation_id, text: await this.#endOf(delegation_id) });
    } finally {
      this.#underWay--;
    }
  }

  /** A delegator that breaks its word is a fault of ours, of which the guest learns no more than that. */
  async #start(call: DelegateCall): Promise<DelegateAnswer> {
    try {
      const answer = await this.#delegator.start(call);
      if ("kind" in answer) {
        return { error: { kind: answer.kind, message: boundedHead(answer.message, MAX_REFUSAL) } };
      }
      if (isId(answer.delegation_id, "dlg")) return { value: { delegation_id: answer.delegation_id } };
    } catch { /* said below */ }
    return { error: { kind: "failed", message: "Delegate: the runtime could not start it" } };
  }

  async #endOf(id: string): Promise<string> {
    try {
      const text = await this.#delegator.ended(id);
      if (text.length <= MAX_END_TEXT) return text;
    } catch { /* said below */ }
    return `[delegate-task] delegation ${id} ended unknown`;
  }
}

const TOO_MANY: DelegateAnswer = {
  error: { kind: "refused", message: `Delegate: ${MAX_DELEGATIONS} delegations are under way, wait for one to end` },
};
