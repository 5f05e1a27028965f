/**
 * The lock of a folder: an advisory `flock` on the folder itself, so that there is no file which someone could remove
 * or forget. The kernel gives it back on every kind of death: a folder whose lock is free has lost its owner.
 */
export class FolderLock {
  #file: Deno.FsFile | undefined;

  private constructor(file: Deno.FsFile) {
    this.#file = file;
  }

  /**
   * Takes the lock of a folder, alone (`own`) or beside others (`share`); nothing when it is held otherwise, is a link,
   * or was moved away meanwhile. Never waits. Throws the system's error when the folder cannot be opened or locked.
   */
  static tryTake(path: string, mode: "own" | "share"): FolderLock | undefined {
    const file = Deno.openSync(path, { read: true });
    try {
      if (file.tryLockSync(mode === "own") && isStill(path, file)) return new FolderLock(file);
    } catch (error) {
      file.close();
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    }
    file.close();
    return undefined;
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

/** Between opening and locking, the one who held it may have removed the folder. */
function isStill(path: string, file: Deno.FsFile): boolean {
  const found = Deno.lstatSync(path);
  const held = file.statSync();
  return found.isDirectory && found.ino === held.ino && found.dev === held.dev;
}
