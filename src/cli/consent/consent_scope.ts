import { errorCodeOf, printableLine } from "../../base/mod.ts";
import { resolveModel, spawnedGrants, type StartableExplanation } from "../../grants/mod.ts";
import { digestBytes, isAgent } from "../../manifest/mod.ts";
import type { Lock } from "../../package/mod.ts";
import type { Resolved } from "../run/resolve_run.ts";

/**
 * The lock that says what a run may start; a run that may start nothing has none, and loads no code for it.
 * @throws `lock.not_found`, `lock.invalid`
 */
export async function findRunLock({ capsule, grants: { grants } }: Resolved): Promise<Lock | undefined> {
  if (grants.spawn.length === 0) return undefined;
  const { findLock } = await import("../../package/mod.ts");
  return findLock(capsule.root);
}

/**
 * What the operator's word for a capsule is kept under: its digest, and with it all that it may start, as the lock has that.
 * What it starts has no more than it has, but it is other code that then has it: when any of it changes, the word is asked
 * for again.
 */
export function consentDigest(digest: string, spawn: readonly string[], lock: Lock | undefined): string {
  if (spawn.length === 0) return digest;
  const lines = [...spawn].sort().map((name) => {
    const entry = lock?.entries.get(name);
    return entry === undefined ? name : `${name}\0${entry.version}\0${entry.digest}`;
  });
  return digestBytes(new TextEncoder().encode([digest, ...lines].join("\n")));
}

/** What a run may start, with what each asks for. */
export async function readStartable(
  spawn: readonly string[],
  lock: Lock | undefined,
): Promise<StartableExplanation[]> {
  if (spawn.length === 0 || lock === undefined) return spawn.map((name) => ({ name }));
  const { loadLocked } = await import("../../package/mod.ts");
  return await Promise.all(spawn.map(async (name): Promise<StartableExplanation> => {
    const entry = lock.entries.get(name);
    if (entry === undefined) return { name };
    const { version, digest } = entry;
    try {
      const { capsule, manifest } = await loadLocked(lock, name);
      const model = isAgent(capsule) ? resolveModel({ capsule, flags: {}, workspaces: [] }).grant : undefined;
      const own = model === undefined ? {} : { model };
      return { name, version, digest, grants: spawnedGrants(manifest.grants), ...own };
    } catch (error) {
      if (errorCodeOf(error) === undefined) throw error;
      return { name, version, digest };
    }
  }));
}

/** Name and version, or what stands in their way; safe for a terminal. */
export function startableLabel({ name, version, grants }: StartableExplanation): string {
  const label = printableLine(version === undefined ? name : `${name} ${version}`, 200);
  if (version === undefined) return `${label}: not in boll.lock, so that it cannot be started`;
  return grants === undefined ? `${label}: not as boll.lock has it, so that it cannot be started` : label;
}
