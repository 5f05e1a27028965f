/**
 * The lock of a session: an advisory `flock` on `records/lock`, held by the supervisor for as long as it lives. The
 * kernel gives it back on every kind of death, so a free lock without a `session_end` means: crashed.
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
