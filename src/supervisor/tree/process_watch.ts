/** A process that cannot be taken for a later one of the same number. */
export interface ProcessMark {
  readonly pid: number;
  /** When it was started, in the kernel's own count. */
  readonly started: string;
}

/**
 * Sees and reaps what children leave behind. A port: the hull's room gives it on Linux; elsewhere nothing of the kind is
 * to be had, and only a child's process group can be reached.
 */
export interface ProcessWatch {
  /** Living processes that descend from the one given. */
  descendantsOf(pid: number): ProcessMark[];
  /** Living processes that lost their parent below this one and came to it, with all that descends from them. */
  adopted(isOwn: (pid: number) => boolean): ProcessMark[];
  isAlive(mark: ProcessMark): boolean;
  /** Takes away what has died and nobody waits for; how many. */
  reapAdopted(isOwn: (pid: number) => boolean): number;
}
