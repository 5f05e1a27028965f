import { CapsuleError, printableLine } from "../base/mod.ts";
import { type AgentCapsule, isAgent } from "../manifest/mod.ts";
import type { Intelligence, Remote, SessionLimits } from "../protocol/control/mod.ts";
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
 * An agent's model: its own as its manifest says, else its parent's. A command has none.
 * @throws {CapsuleError} `grant.exceeds_ceiling`
 */
export function intelligenceFor(
  parent: DelegatingSession,
  { capsule, intelligence }: Spawnable,
): Intelligence | undefined {
  if (!isAgent(capsule)) return undefined;
  const found = intelligence ?? parent.intelligence;
  if (found !== undefined) return found;
  throw new CapsuleError(
    "grant.exceeds_ceiling",
    `Delegate to ${capsule.name}: it names no model, and its parent has none to give`,
  );
}

/**
 * The peers of an agent's manifest, with what opens their doors: its parent must have each, by its name and its place. A
 * command has none.
 * @throws {CapsuleError} `grant.exceeds_ceiling`
 */
export function peersFor(parent: DelegatingSession, { capsule }: Spawnable): readonly Remote[] {
  if (!isAgent(capsule)) return [];
  return capsule.manifest.peers.map(({ name, url }) => {
    const found = parent.peers?.find((peer) => peer.name === name && peer.url === url);
    if (found !== undefined) return found;
    throw new CapsuleError(
      "grant.exceeds_ceiling",
      `Delegate to ${capsule.name}: peers: ${name} at ${printableLine(url, 200)}, which its parent does not have`,
    );
  });
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
    ...(isAgent(capsule) ? { limits: limitsOf(capsule, parent) } : {}),
  }, { ...parent.authority, remainingMs });
  const deadline_ms = Math.min(authority.limits.deadline_ms, call.deadline_ms ?? Infinity);
  return { ...authority, limits: { ...authority.limits, deadline_ms } };
}

/** What an agent's manifest writes it asks for; of what it does not write it gets the default, or what there is. */
function limitsOf(
  { manifest: { inference, positions } }: AgentCapsule,
  { authority: { limits } }: DelegatingSession,
): Pick<SessionLimits, "max_steps" | "max_tokens"> {
  const asked = (key: "max_turns" | "max_session_tokens", most: number) =>
    positions.has(`inference.${key}`) ? inference[key] : Math.min(inference[key], most);
  return {
    max_steps: asked("max_turns", limits.max_steps),
    max_tokens: asked("max_session_tokens", limits.max_tokens),
  };
}
