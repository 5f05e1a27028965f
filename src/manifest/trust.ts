import type { Capsule, Workspace } from "./manifest.ts";

/** A workspace the operator trusts, as `trust.json` keeps it. */
export interface TrustedWorkspace {
  readonly path: string;
  readonly digest: string;
  readonly capsules: readonly string[];
}

/** The operator's stored word: `$BOLL_HOME/trust.json` (0600), read anew for each question, written whole. */
export interface Trust {
  /** Whether the capsule matches a glob of this workspace and the workspace's path and digest are trusted. */
  isOwn(capsule: Capsule, workspaces: Workspace | readonly Workspace[] | undefined): boolean;
  /** Whether a foreign capsule of exactly this digest was accepted. */
  isAccepted(digest: string): boolean;
  /** Stores consent to a foreign capsule. */
  accept(digest: string): void;
  /** Stores trust in a `boll.jsonc` as it is now. */
  trustWorkspace(workspace: Workspace): void;
  /** Every trusted workspace: what the grants room protects. */
  trustedWorkspaces(): readonly TrustedWorkspace[];
}
/** STUB */
export function openTrust(home: string): Trust {
  throw new Error(home);
}
