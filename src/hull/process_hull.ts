import { CapsuleError, type HullRules, type ProcessLimits } from "../base/mod.ts";

/** What {@link ProcessHull.confine} raised, and how long it took. */
export interface HullReport {
  readonly landlock: "on" | "off";
  readonly seccomp: "on" | "off";
  /** Landlock ABI version of the running kernel, 0 when there is none. */
  readonly abi: number;
  readonly durationMs: number;
}

/** A standard descriptor that is a terminal, and the device's path. */
export interface TerminalDescriptor {
  readonly descriptor: 0 | 1 | 2;
  readonly path: string;
}

/** This process, to be confined: libc is open from `open()` to `close()`. Order: dieWithParent, limit, confine. */
export class ProcessHull implements Disposable {
  /** @throws `hull.unavailable` on another system than Linux x86-64 or aarch64, or without ffi permission. */
  static open(): ProcessHull {
    throw new CapsuleError("hull.unavailable", "Stub");
  }
  /** SIGKILL when the thread that spawned this process ends. @throws `hull.failed` when the parent is another already. */
  dieWithParent(_expectedParentPid: number): void {}
  /** Marks every descriptor from `from` on close-on-exec, so that no child inherits the caller's files. */
  closeDescriptorsOnExec(_from = 3): void {}
  /** Sets resource limits, soft and hard; core dumps are always off. @throws `hull.failed` */
  limit(_limits: ProcessLimits): void {}
  /** Raises Landlock on this thread and, if asked, seccomp on every thread; cannot be undone. @throws `hull.failed` */
  confine(_rules: HullRules): HullReport {
    throw new CapsuleError("hull.unavailable", "Stub");
  }
  /** Which of the descriptors 0-2 are terminals. */
  terminals(): TerminalDescriptor[] {
    return [];
  }
  /** Closes libc; nothing else works afterwards. */
  close(): void {}
  [Symbol.dispose](): void {
    this.close();
  }
}
