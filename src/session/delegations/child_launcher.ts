import type { DelegateCall, DelegateRefusal, DelegateStarted } from "../../protocol/mod.ts";

/** A child that was started. */
export interface ChildStarted extends DelegateStarted {
  readonly session_id: string;
  readonly capsule: string;
  readonly version: string;
  readonly deadline_ms: number;
}

/** A child that has ended. */
export interface ChildEnded {
  /** What whoever delegated reads of it. */
  readonly text: string;
  readonly status: string;
  readonly duration_ms: number;
}

/** Port: starts children for one session, whose authority bounds theirs. What it asks of it is in its own words. */
export interface ChildLauncher {
  /** Settles once the child is started, or is not. The message of a refusal reaches the guest. */
  start(call: DelegateCall): Promise<ChildStarted | DelegateRefusal>;
  /** Settles once the child of that delegation has ended; asked once for each. */
  ended(delegationId: string): Promise<ChildEnded>;
  /** Ends the child of that delegation; settles once it is told to. Nothing happens when it has ended. */
  stop(delegationId: string): Promise<void>;
}

/** Names of the tools by which a session process asks its supervisor for the same. */
export const DELEGATION_TOOLS = {
  start: "delegate-task",
  ended: "delegation-outcome",
  stop: "delegation-stop",
} as const;
