import { CapsuleError, errorCodeOf } from "../base/mod.ts";
import { type Capsule, digestCapsule, type Manifest } from "../manifest/mod.ts";
import type { Intelligence } from "../protocol/control/mod.ts";
import type { SessionRequest } from "../session/mod.ts";

type CachedComponent = NonNullable<SessionRequest["component"]>;

/** A capsule as the lock has it, which may be delegated to: nothing of it is made or parsed any more when it is. */
export interface Spawnable {
  readonly capsule: Capsule;
  readonly manifest: Manifest;
  /** Of the folder, as it was locked. */
  readonly digest: string;
  /** What it runs, built for a capsule of so much memory; held in the cache. */
  built(memoryMb: number): BuiltCapsule | undefined;
  /** An agent's own model; absent: its parent's. */
  readonly intelligence?: Intelligence;
}

/** What a capsule runs: its component, or each of its tools. */
export type BuiltCapsule =
  | { readonly component: CachedComponent; readonly tools?: undefined }
  | { readonly component?: undefined; readonly tools: Readonly<Record<string, CachedComponent>> };

/** A name that a manifest may delegate to and that nothing can be started for; why, for whoever asks: no host path. */
export interface Unspawnable {
  readonly refused: string;
}

/**
 * Reads a capsule's files once more: the lock says what they were, and the component was built of those.
 * @throws {CapsuleError} `capsule.changed`
 */
export function checkUnchanged({ capsule, digest }: Pick<Spawnable, "capsule" | "digest">): void {
  let found: string;
  try {
    found = digestCapsule(capsule).capsule;
  } catch (cause) {
    if (errorCodeOf(cause) === undefined) throw cause;
    found = "";
  }
  if (found === digest) return;
  throw new CapsuleError(
    "capsule.changed",
    `Delegate to ${capsule.name}: digest changed, its files are not those that boll.lock has`,
  );
}
