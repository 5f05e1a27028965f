import { becomeSubreaper } from "./become_subreaper.ts";
import { Libc } from "./libc.ts";
import { type ProcessEntry, ProcessTable } from "./process_table.ts";
import { adoptedReaper } from "./reap_adopted.ts";

/**
 * What a supervisor sees of the processes below it, and takes away when they are dead. libc stays open until `close()`.
 * A supervisor with a hull needs `/proc` in it; without, nothing is seen.
 */
export class ProcessTree implements Disposable {
  readonly #libc: Libc;
  readonly #table: ProcessTable;
  readonly #reap: (isOwn: (pid: number) => boolean) => number;
  #subreaper = false;

  private constructor(libc: Libc) {
    this.#libc = libc;
    this.#table = new ProcessTable(libc);
    this.#reap = adoptedReaper(libc);
  }

  /** @throws `hull.unavailable` off Linux x86-64 and aarch64, and without (unscoped) ffi permission. */
  static open(): ProcessTree {
    return new ProcessTree(Libc.open());
  }

  /**
   * From now on, what is left behind below this process comes to it, and {@link adopted} sees it. As the system's first
   * process it is that anyway, but of what comes then not all was started below it. @throws `hull.failed`
   */
  becomeSubreaper(): void {
    becomeSubreaper(this.#libc);
    this.#subreaper = Deno.pid !== 1;
  }

  /** Living processes that descend from the one given. */
  descendantsOf(pid: number): ProcessEntry[] {
    return this.#table.descendants(pid);
  }

  /** Living processes that came to this one when they lost their parent, with all that descends from them. */
  adopted(isOwn: (pid: number) => boolean): ProcessEntry[] {
    if (!this.#subreaper) return [];
    return this.#table.children(Deno.pid).filter((pid) => !isOwn(pid)).flatMap((pid) => {
      const entry = this.#table.entry(pid);
      return [...(entry && !entry.dead ? [entry] : []), ...this.#table.descendants(pid)];
    });
  }

  /** Whether it is still the process that was seen, and runs. */
  isAlive({ pid, started }: Pick<ProcessEntry, "pid" | "started">): boolean {
    const entry = this.#table.entry(pid);
    return entry !== undefined && !entry.dead && entry.started === started;
  }

  /** Takes away what has died and was not started by this program; how many. */
  reapAdopted(isOwn: (pid: number) => boolean): number {
    return this.#reap(isOwn);
  }

  /** Closes libc; nothing else works afterwards. */
  close(): void {
    this.#libc.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
