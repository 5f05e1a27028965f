import type { DeclaredGrants } from "../manifest/mod.ts";
import { completeGrants } from "./defaults.ts";
import type { Grants } from "./grants.ts";
import { narrow, type Narrowed } from "./narrow.ts";

/** How long one call of a tool may take when nobody says, ms. */
const CALL_DEADLINE_MS = 60_000;

/**
 * A tool's grants: its block within the capsule's, and without a block the capsule's own. What the block asks for beyond
 * the capsule is in `dropped`. A tool's deadline is that of one call. A mount has the folder that the capsule's has.
 */
export function toolGrants(declared: DeclaredGrants | undefined, capsule: Grants): Narrowed {
  const limits = { ...capsule.limits, deadline_ms: Math.min(CALL_DEADLINE_MS, capsule.limits.deadline_ms) };
  if (declared === undefined) return { grants: { ...capsule, limits }, dropped: [] };
  const mounts = (declared.fs?.mounts ?? []).map(({ guest, mode = "ro" }) => ({ guest, mode }));
  return narrow(completeGrants(declared, { limits, mounts }), capsule);
}
