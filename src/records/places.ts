import { join } from "@std/path";
import { CapsuleError, newId, writeFileWhole } from "../base/mod.ts";
import { type Home, unwritable } from "./folders/home.ts";
import { SessionLock } from "./sessions/session_lock.ts";

/** Where a session lives (docs/records.md, "Places on disk"); absolute paths. */
export interface SessionPaths {
  readonly id: string;
  readonly root: string;
  /** Runtime only: nothing a guest can reach. */
  readonly records: string;
  readonly trace: string;
  readonly plan: string;
  readonly completion: string;
  /** How it ended, in one small file: there only once the trace has its `session_end`. */
  readonly summary: string;
  readonly out: string;
  readonly lockFile: string;
  /** While it runs: the path of its tree's control socket. */
  readonly control: string;
  /** Whole answers and logs: readable by tools. */
  readonly runtime: string;
  /** The guest's folder: the session's own, unless the operator named another. */
  readonly work: string;
}

/** A session's places while this process owns it: the lock is held until `close`. */
export interface SessionPlaces extends SessionPaths {
  readonly lock: SessionLock;
  /** Gives the lock back. Write `session_end` first: a free lock without one reads as a crash. */
  close(): void;
  [Symbol.dispose](): void;
}

/** Options of {@link createSession}. `work` is a real path the operator chose instead of the session's own folder. */
export interface CreateSessionOptions {
  readonly work?: string;
}

/** The paths of a session that may or may not exist. */
export function sessionPaths(home: Pick<Home, "sessions">, id: string): SessionPaths {
  // Plain text: ten thousand sessions are looked at in one go, and joining took longer than looking.
  const root = `${home.sessions}/${id}`;
  const records = `${root}/records`;
  return {
    id,
    root,
    records,
    trace: `${records}/trace.jsonl`,
    plan: `${records}/plan.json`,
    completion: `${records}/completion.json`,
    summary: `${records}/summary.json`,
    out: `${records}/out`,
    lockFile: `${records}/lock`,
    control: `${records}/control`,
    runtime: `${root}/runtime`,
    work: `${root}/work`,
  };
}

/**
 * Makes the places of a new session, all 0700, and takes its lock.
 * @throws `home.unwritable` when they cannot be made
 */
export function createSession(home: Home, options: CreateSessionOptions = {}): SessionPlaces {
  const id = newId("ses");
  const paths = sessionPaths(home, id);
  // Made under a name no reader takes for a session, and renamed once the lock is held: a reader never sees a session
  // whose lock is free because it is still being made.
  const staging = sessionPaths(home, `.new-${id}`);
  let lock: SessionLock | undefined;
  try {
    for (const folder of [staging.root, staging.records, staging.out, staging.runtime]) makeFolder(folder);
    for (const name of ["delegations", "logs"]) makeFolder(join(staging.runtime, name));
    if (options.work === undefined) makeFolder(staging.work);
    lock = SessionLock.tryTake(staging.lockFile);
    if (lock === undefined) throw new Error("the lock of a new session is held by another process");
    lock.reserve();
    // There is an entry of the disk for its ending, too, whatever fills up from here on.
    Deno.openSync(staging.trace, { write: true, createNew: true, mode: 0o600 }).close();
    Deno.renameSync(staging.root, paths.root);
  } catch (error) {
    lock?.release();
    removeQuietly(staging.root);
    throw unwritable(paths.root, error);
  }
  return { ...paths, work: options.work ?? paths.work, ...owned(lock) };
}

/** Writes `records/plan.json`, whole and 0600: the frozen launch plan, before the child is told to go. */
export function writePlan(places: SessionPaths, plan: unknown): void {
  writeRecord(places.plan, JSON.stringify(plan, null, 2) + "\n");
}

/** Writes `records/out/result.txt`, whole: the session's distilled answer. */
export function writeResult(places: SessionPaths, result: string): void {
  writeRecord(join(places.out, "result.txt"), result);
}

function writeRecord(path: string, text: string): void {
  try {
    writeFileWhole(path, text, { mode: 0o600 });
  } catch (error) {
    throw error instanceof CapsuleError ? error : unwritable(path, error);
  }
}

function owned(lock: SessionLock): Pick<SessionPlaces, "lock" | "close" | typeof Symbol.dispose> {
  const close = () => {
    lock.freeReserve();
    lock.release();
  };
  return { lock, close, [Symbol.dispose]: close };
}

function makeFolder(path: string): void {
  Deno.mkdirSync(path, { mode: 0o700 });
}

function removeQuietly(path: string): void {
  try {
    Deno.removeSync(path, { recursive: true });
  } catch { /* it was never made */ }
}
