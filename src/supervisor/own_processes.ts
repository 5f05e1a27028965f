const own = new Set<number>();

/**
 * Whether this program started the process and waits for it itself, so that nobody else may. All processes are started
 * in this room: one list for all supervisors of the program.
 */
export function isOwnProcess(pid: number): boolean {
  return own.has(pid);
}

/** Lists a process from its start until it is reaped. */
export function ownProcess(child: Deno.ChildProcess): void {
  own.add(child.pid);
  child.status.then(() => own.delete(child.pid), () => own.delete(child.pid));
}
