import { join } from "@std/path";
import { CapsuleError, errorCodeOf, printableLine } from "../base/mod.ts";
import {
  type AgentCapsule,
  type AgentDigests,
  type Capsule,
  type CommandCapsule,
  type CommandDigests,
  digestCapsule,
  isAgent,
  loadCapsule,
  type Manifest,
} from "../manifest/mod.ts";
import type { Lock, LockEntry } from "./lock.ts";

/** A capsule whose files are those that were locked. */
export type LockedCapsule = LockedCommand | LockedAgent;

/** A command, or a service. */
export interface LockedCommand {
  readonly capsule: CommandCapsule;
  /** Of exactly the bytes that were compared with the lock: what is built must have `digests.component`. */
  readonly digests: CommandDigests;
  /** The capsule's own, which the digest covers. */
  readonly manifest: Manifest;
}

/** An agent: its tools that are built must have `digests.tools`. */
export interface LockedAgent {
  readonly capsule: AgentCapsule;
  readonly digests: AgentDigests;
  readonly manifest: Manifest;
}

/** Whether it is an agent. */
export function isLockedAgent(locked: LockedCapsule): locked is LockedAgent {
  return isAgent(locked.capsule);
}

/**
 * The entry of a name that anybody may have chosen; with a version, only of exactly that one.
 * @throws {CapsuleError} `capsule.not_installed`
 */
export function findLocked(lock: Lock, name: string, version?: string): LockEntry {
  const entry = lock.entries.get(name);
  const asked = printableLine(version === undefined ? name : `${name}@${version}`, 100);
  const place = printableLine(lock.path);
  if (entry === undefined) {
    throw new CapsuleError(
      "capsule.not_installed",
      `Find capsule ${asked}: not installed, ${place} does not have it; run \`boll lock\` once it is there`,
    );
  }
  if (version === undefined || version === entry.version) return entry;
  throw new CapsuleError(
    "capsule.not_installed",
    `Find capsule ${asked}: not installed, ${place} has version ${printableLine(entry.version, 100)}`,
  );
}

/**
 * Loads a capsule by its name, and only as it was locked: a folder that is reached over a link, that holds another
 * capsule, or whose files changed is refused.
 * @throws {CapsuleError} `capsule.not_installed`, `capsule.changed`, `capsule.bad_file`, `lock.invalid`, `manifest.*`
 */
export async function loadLocked(lock: Lock, name: string, version?: string): Promise<LockedCapsule> {
  const entry = findLocked(lock, name, version);
  const folder = join(lock.root, entry.path);
  const capsule = await load(lock, name, folder);
  const { manifest } = capsule;
  if (manifest === undefined || capsule.root !== folder) {
    throw refuse(
      "capsule.bad_file",
      name,
      `${printableLine(folder)} is no folder of a capsule, or reached over a link`,
    );
  }
  const locked = isAgent(capsule)
    ? { capsule, digests: digestCapsule(capsule), manifest }
    : { capsule, digests: digestCapsule(capsule), manifest };
  if (locked.digests.capsule !== entry.digest) {
    const newer = manifest.version === entry.version ? "" : `, and are version ${printableLine(manifest.version, 100)}`;
    throw refuse(
      "capsule.changed",
      name,
      `the files in ${printableLine(folder)} are not those that ${printableLine(lock.path)} has${newer}; ` +
        `look at what changed, then run \`boll lock\``,
    );
  }
  if (manifest.name === name && manifest.version === entry.version) return locked;
  throw refuse(
    "lock.invalid",
    name,
    `${printableLine(lock.path)} has ${name}@${printableLine(entry.version, 100)} for what is ` +
      `${manifest.name}@${printableLine(manifest.version, 100)}; run \`boll lock\``,
  );
}

async function load(lock: Lock, name: string, folder: string): Promise<Capsule> {
  try {
    return await loadCapsule(folder);
  } catch (error) {
    const code = errorCodeOf(error);
    if (code !== "capsule.not_found" && code !== "manifest.not_found") throw error;
    const why = `${printableLine(lock.path)} has it in ${
      printableLine(folder)
    }, where no capsule is; put it back, or run \`boll lock\``;
    throw refuse("capsule.changed", name, why, error);
  }
}

function refuse(
  code: "capsule.bad_file" | "capsule.changed" | "lock.invalid",
  name: string,
  why: string,
  cause?: unknown,
): CapsuleError {
  return new CapsuleError(code, `Load capsule ${name}: ${why}`, { cause });
}
