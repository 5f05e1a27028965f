import type { Capsule, TrustedWorkspace, Workspace } from "../manifest/mod.ts";
import type { OperatorFlags } from "./flags.ts";
import type { Grants } from "./grants.ts";
import type { ProtectedPlaces } from "./protect.ts";

/** Everything that decides a run's grants. */
export interface ResolveGrantsInput {
  readonly capsule: Capsule;
  /** Whether the capsule is the operator's own (`Trust.isOwn`). */
  readonly own: boolean;
  /** Every `boll.jsonc` above the capsule, nearest first: their ceilings all apply, trusted or not. */
  readonly workspaces: readonly Workspace[];
  /** `Trust.trustedWorkspaces()`: their files and globs are out of reach. */
  readonly trusted: readonly TrustedWorkspace[];
  readonly flags: OperatorFlags;
  readonly places: ProtectedPlaces;
  /** Reads one variable of the operator's environment. */
  readonly readEnv: (name: string) => string | undefined;
}

/** A run's whole authority. */
export interface ResolvedGrants {
  /** Mounts bound to real paths. */
  readonly grants: Grants;
  /** Values of `grants.env`; a name that is not set is absent. Never recorded. */
  readonly envValues: Readonly<Record<string, string>>;
  /** The real path of `--work`; absent means the session's own work folder. */
  readonly work?: string;
  /** What was asked and dropped, one sentence each. */
  readonly warnings: readonly string[];
}
/** STUB
 * @throws {CapsuleError} `grant.unbound_mount`, `grant.bad_mount`, `grant.protected_path`, `grant.exceeds_ceiling`.
 */
export function resolveGrants(input: ResolveGrantsInput): ResolvedGrants {
  throw new Error(`${input}`);
}
