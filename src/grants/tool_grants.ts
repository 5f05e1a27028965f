import type { DeclaredGrants } from "../manifest/mod.ts";
import { completeGrants } from "./defaults.ts";
import type { Grants } from "./grants.ts";
import { narrow, type Narrowed } from "./narrow.ts";

/** How long one call of a tool may take when nobody says, ms. */
const CALL_DEADLINE_MS = 60_000;

/** Calls of tools that one cell works on at once, at most. */
const MAX_CALLS = 8;

/** The memory that those calls may have together, MiB; one call has what its grants give, however much that is. */
const MEMORY_AT_ONCE_MB = 2_048;

/** How many calls a cell of tools with these limits works on at once; more wait in line. */
export function callsAtOnce({ memory_mb, cpu_seconds }: Grants["limits"]): number {
  if (cpu_seconds !== undefined) return 1; // counted for a process: each call has one of its own
  return Math.max(1, Math.min(MAX_CALLS, Math.floor(MEMORY_AT_ONCE_MB / memory_mb)));
}

/** How many instances of tools may live in such a cell: those at work or made ahead, and one that waits for the collector. */
export function toolInstances(limits: Grants["limits"]): number {
  return callsAtOnce(limits) + 1;
}

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
