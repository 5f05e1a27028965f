import type { EndedBy } from "../../base/mod.ts";
import type { SessionLimits, SpawnPayload } from "../../protocol/control/mod.ts";
import type { Ending } from "./child_ending.ts";
import type { RestartVerdict } from "./restart.ts";

/** Where a session stands in its tree: minted by the supervisor from the caller's own place. */
export interface Slot {
  /** Dotted: `0`, `0.2`. */
  readonly path: string;
  /** 0 is the root. */
  readonly depth: number;
  /** How often it was started before. */
  readonly attempt: number;
}

/**
 * What to start. The environment is exactly `env`. Of the payload, the supervisor sets what it mints itself: limits,
 * role, warmth, depth, path and the tool grant.
 */
export interface SessionLaunch {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly payload: SpawnPayload;
}

/** A start that is asked for. */
export interface SpawnRequest {
  /** The path of the session that asks, from its handle and never from its frame; absent for a root. */
  readonly parent?: string;
  readonly limits: SessionLimits;
  readonly role?: SpawnPayload["role"];
  readonly warm?: boolean;
  /** Its turns come from a door of its own. */
  readonly hasDoor?: boolean;
  /** Whether one that failed is started again; default a warm one. */
  readonly restarts?: boolean;
  /** Patterns of the tools that the session may ask for; absent does not narrow. */
  readonly allowedTools?: readonly string[];
  /** Tokens to reserve from the tree, when not all of `limits.max_tokens`. */
  readonly reserveTokens?: number;
  /** Called when the start is admitted, and before each restart: folders and ids are made here, so a refusal costs none. */
  prepare(slot: Slot): SessionLaunch | Promise<SessionLaunch>;
}

/** How one child ended: told once, to whoever waits for it and to the record. */
export interface ChildEnding extends Ending {
  readonly path: string;
  /** Empty when it was never prepared. */
  readonly session_id: string;
  /** Processes that descend from it and outlived SIGKILL. */
  readonly survivors?: readonly number[];
  /** What becomes of a warm child that failed. */
  readonly restart?: RestartVerdict;
}

/** Endings after which a warm child is started again. */
export const RESTARTED_AFTER: readonly EndedBy[] = ["crashed", "stuck", "protocol_broken", "not_ready", "memory"];
