import { writeAll } from "../../base/mod.ts";

/** Room for one `session_end`, bytes. */
const RESERVE_BYTES = 8 * 1024;

/** Gives back the room that the holder of the lock at `path` took on the disk, for whoever writes in its name. */
export function freeReserve(path: string): void {
  try {
    Deno.truncateSync(path, 0);
  } catch { /* then it is as full as it was */ }
}

/**
 * The lock of a session: an advisory `flock` on `records/lock`, held by the supervisor for as long as it lives. The
 * kernel gives it back on every kind of death, so a free lock without a `session_end` means: crashed. Its file can hold
 * room on the disk, so that a disk which filled up meanwhile takes no ending.
 */
export class SessionLock {
  #file: Deno.FsFile | undefined;

  private constructor(file: Deno.FsFile) {
    this.#file = file;
  }

  /** Takes the lock of a session, making its file; nothing when another process holds it. Never waits. */
  static tryTake(path: string): SessionLock | undefined {
    const file = Deno.openSync(path, { write: true, create: true, mode: 0o600 });
    try {
      if (file.tryLockSync(true)) return new SessionLock(file);
    } catch (error) {
      file.close();
      throw error;
    }
    file.close();
    return undefined;
  }

  /** Takes room on the disk. Throws the system's error when there is none. */
  reserve(): void {
    if (this.#file !== undefined) writeAll(this.#file, new Uint8Array(RESERVE_BYTES));
  }

  /** Gives the room back; more than once is harmless. */
  freeReserve(): void {
    try {
      this.#file?.truncateSync(0);
    } catch { /* then it is as full as it was */ }
  }

  /** Whether this object still holds the lock. */
  get isHeld(): boolean {
    return this.#file !== undefined;
  }

  /** Gives the lock back; more than once is harmless. */
  release(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  [Symbol.dispose](): void {
    this.release();
  }
}
