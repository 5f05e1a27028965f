import type { Grants } from "../grants/mod.ts";
import { SESSION_CEILINGS, type SessionLimits } from "../protocol/control/mod.ts";
import type { Authority } from "./fit_child.ts";
import type { UnheardEnds } from "./unheard_ends.ts";

/** A session of the tree that may delegate: the root, or a child at work. */
export interface DelegatingSession {
  readonly sessionId: string;
  readonly contextId: string;
  readonly runtime: string;
  readonly authority: Authority;
  readonly envValues: Readonly<Record<string, string>>;
  remainingMs(): number;
  /** Ends that it has not heard of. */
  readonly ends: UnheardEnds;
}

/** A command has no model: it takes one token, so that every session counts in the tree's budget, and gives it back. */
export const COMMAND_TOKENS = 1;

/** A run in the foreground has the most that any session may have, within its own deadline. */
export function rootLimits({ limits }: Grants): SessionLimits {
  return {
    max_steps: 1,
    max_tokens: COMMAND_TOKENS,
    deadline_ms: Math.min(limits.deadline_ms, SESSION_CEILINGS.deadline_ms),
    max_depth: SESSION_CEILINGS.max_depth,
  };
}
