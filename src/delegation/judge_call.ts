import { CapsuleError, printableLine } from "../base/mod.ts";
import type { DelegateCall } from "../protocol/mod.ts";
import type { DelegatingSession } from "./delegating_session.ts";
import { type Authority, fitChild } from "./fit_child.ts";
import type { LauncherOptions } from "./launcher_options.ts";
import type { Spawnable } from "./spawnable.ts";

/**
 * What a call names, as `find` has it.
 * @throws {CapsuleError} `grant.exceeds_ceiling`, `capsule.not_installed`
 */
export function findFor(
  parent: DelegatingSession,
  { capsule, version }: DelegateCall,
  find: LauncherOptions["find"],
): Spawnable {
  // A name that it may not delegate to is no more than that, also when there is such a capsule.
  const found = parent.authority.grants.spawn.includes(capsule) ? find(capsule) : undefined;
  if (found === undefined) {
    fitChild({ capsule, declared: {} }, { ...parent.authority, remainingMs: parent.remainingMs() });
    throw new TypeError("a capsule that is not in spawn fits");
  }
  if ("refused" in found) throw new CapsuleError("capsule.not_installed", found.refused);
  if (version !== undefined && version !== found.manifest.version) {
    throw new CapsuleError(
      "capsule.not_installed",
      `Delegate to ${capsule}@${
        printableLine(version, 80)
      }: not installed, boll.lock has version ${found.manifest.version}`,
    );
  }
  return found;
}

/**
 * The authority of the child that is asked for, within that of who asks.
 * @throws {CapsuleError} `grant.exceeds_ceiling`
 */
export function narrowFor(parent: DelegatingSession, call: DelegateCall, { capsule, manifest }: Spawnable): Authority {
  const mounts = new Map(call.mounts);
  if (mounts.size < call.mounts.length) {
    throw new CapsuleError(
      "grant.exceeds_ceiling",
      `Delegate to ${capsule.name}: fs.mounts: two folders are named for one of its mounts, name one`,
    );
  }
  const remainingMs = Math.floor(Math.min(parent.remainingMs(), parent.authority.limits.deadline_ms));
  const authority = fitChild({
    capsule: capsule.name,
    declared: manifest.grants,
    mounts: Object.fromEntries(mounts),
  }, { ...parent.authority, remainingMs });
  const deadline_ms = Math.min(authority.limits.deadline_ms, call.deadline_ms ?? Infinity);
  return { ...authority, limits: { ...authority.limits, deadline_ms } };
}
