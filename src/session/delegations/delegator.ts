import type { DelegateAnswer, DelegateCall, DelegateRefusal, DelegateStarted } from "../../protocol/mod.ts";

/**
 * Port: who starts children for a run's guest. It checks the call against the grants, which nobody has done before, and
 * ends with the run: what it still has under way then is its own to end.
 */
export interface Delegator {
  /** Settles once the child is started, or is not. The message reaches the guest: no host path, no secret. */
  start(call: DelegateCall): Promise<DelegateStarted | DelegateRefusal>;
  /** Settles once the child of that id has ended, with what is to be read of it. */
  ended(delegationId: string): Promise<string>;
}

/** The answer to every call of a run without a {@link Delegator}. */
export const NO_DELEGATOR: DelegateAnswer = {
  error: { kind: "refused", message: "Delegate: this run may delegate to nobody" },
};
