import type { DeclaredGrants } from "../manifest/mod.ts";
import { canonicalNet } from "./net_entry.ts";
import { DEFAULT_LIMITS, type Grants, type Limits, type MountGrant } from "./grants.ts";

/** The grants of a capsule that declares none: stdio, clocks and random, nothing else. */
export const NO_GRANTS: Grants = {
  fs: { mounts: [] },
  env: [],
  net: [],
  spawn: [],
  stdio: true,
  clocks: true,
  random: true,
  limits: DEFAULT_LIMITS,
};

/** Limits that bind nothing: those of a ceiling that does not speak of limits. */
export const NO_LIMITS: Limits = {
  memory_mb: Number.MAX_SAFE_INTEGER,
  deadline_ms: Number.MAX_SAFE_INTEGER,
  open_files: Number.MAX_SAFE_INTEGER,
  file_bytes: Number.MAX_SAFE_INTEGER,
  work_bytes: Number.MAX_SAFE_INTEGER,
};

/** What a capsule asks for that another starts: no mount of it is bound yet. */
export function spawnedGrants(declared: DeclaredGrants): Grants {
  const mounts = (declared.fs?.mounts ?? []).map(({ guest, mode = "ro" }) => ({ guest, mode }));
  return completeGrants(declared, { limits: DEFAULT_LIMITS, mounts });
}

/**
 * A grants block with its silence filled in: what is not named is denied, but for stdio, clocks and random; limits come
 * from `limits`, mounts are the caller's to bind.
 */
export function completeGrants(
  declared: DeclaredGrants,
  { limits, mounts }: { readonly limits: Limits; readonly mounts: readonly MountGrant[] },
): Grants {
  const work = declared.fs?.work;
  return {
    fs: { ...(work === undefined ? {} : { work }), mounts },
    env: declared.env ?? [],
    net: canonicalNet(declared.net ?? []),
    spawn: declared.spawn ?? [],
    stdio: declared.stdio ?? true,
    clocks: declared.clocks ?? true,
    random: declared.random ?? true,
    limits: { ...limits, ...declared.limits },
    ...(declared.containment === undefined ? {} : { containment: declared.containment }),
  };
}
