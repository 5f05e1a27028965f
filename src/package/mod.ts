/**
 * Capsules by name: `boll.lock`, which says for each name of a workspace which version and digest it is and where it
 * lies. Enters: a workspace's folder, names that a guest may have chosen. Leaves: capsules whose files are those that
 * were locked, or a refusal. It grants nothing, runs nothing, and writes `boll.lock` alone.
 * @module
 */
export { findLocked, isLockedAgent, loadLocked } from "./load_locked.ts";
export type { LockedAgent, LockedCapsule, LockedCommand } from "./load_locked.ts";
export { type Lock, LOCK_NAME, type LockEntry } from "./lock.ts";
export { type LockChange, planLock, type PlanLockOptions, type PlannedLock, writeLock } from "./plan_lock.ts";
export { findLock, readLock } from "./read_lock.ts";
