import type { Grants } from "../grants/mod.ts";
import {
  boundDeadline,
  type Intelligence,
  type Remote,
  SESSION_CEILINGS,
  type SessionLimits,
} from "../protocol/control/mod.ts";
import type { Authority } from "./fit_child.ts";
import type { UnheardEnds } from "./ending/unheard_ends.ts";

/** A session of the tree that may delegate: the root, or a child at work. */
export interface DelegatingSession {
  readonly sessionId: string;
  readonly contextId: string;
  readonly runtime: string;
  readonly authority: Authority;
  readonly envValues: Readonly<Record<string, string>>;
  /** The model that a child without its own has: this session's, or the one of who delegated to it. */
  readonly intelligence?: Intelligence;
  /** Those of its own; absent: none. */
  readonly peers?: readonly Remote[];
  remainingMs(): number;
  /** Ends that it has not heard of. */
  readonly ends: UnheardEnds;
}

/** A command has no model: it takes one token, so that every session counts in the tree's budget, and gives it back. */
export const COMMAND_TOKENS = 1;

/** A run in the foreground has the most that any session may have, within its own deadline. */
export function rootLimits({ limits }: Grants): SessionLimits {
  return { ...SESSION_CEILINGS, deadline_ms: boundDeadline(limits.deadline_ms) };
}

/** What a session may give on of its limits: one without a model uses none of its own steps and tokens. */
export function delegableLimits(limits: SessionLimits, hasModel: boolean): SessionLimits {
  return hasModel ? limits : { ...SESSION_CEILINGS, deadline_ms: limits.deadline_ms, max_depth: limits.max_depth };
}
