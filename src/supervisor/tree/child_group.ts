import { isOwnProcess } from "../own_processes.ts";
import { type Clock, pause } from "./clock.ts";
import type { ProcessMark, ProcessWatch } from "./process_watch.ts";

/** How long what was killed may take to be gone before it is named, ms. */
const SURVIVOR_MS = 200;
const LOOK_AGAIN_MS = 10;

/** A child's process group, and what is known to descend from it wherever it has moved. */
export class ChildGroup {
  readonly pid: number;
  readonly #clock: Clock;
  readonly #processes: ProcessWatch | undefined;
  readonly #seen = new Map<number, ProcessMark>();
  #leaderLives = true;

  constructor(pid: number, options: { readonly clock: Clock; readonly processes: ProcessWatch | undefined }) {
    this.pid = pid;
    this.#clock = options.clock;
    this.#processes = options.processes;
  }

  /** From now on, what it left behind is looked for among the adopted. */
  leaderIsGone(): void {
    this.#leaderLives = false;
  }

  /** Remembers what descends from the child, as long as that can be seen. */
  look(): void {
    const found = this.#leaderLives ? this.#processes?.descendantsOf(this.pid) : this.#processes?.adopted(isOwnProcess);
    for (const mark of found ?? []) this.#seen.set(mark.pid, mark);
  }

  /** To the group; SIGKILL also to each process that has moved out of it. */
  signal(signal: "SIGTERM" | "SIGKILL"): void {
    this.look();
    // Its number may be another's once it is reaped, but not its group's as long as one is left in it.
    killQuietly(-this.pid, signal);
    if (signal === "SIGTERM") return;
    for (const pid of this.survivors()) killQuietly(pid, signal);
  }

  /** Settles when nothing that was seen lives, or it has had its time to go. */
  async gone(): Promise<void> {
    const untilMs = this.#clock.nowMs() + SURVIVOR_MS;
    while (this.survivors().length > 0 && this.#clock.nowMs() < untilMs) await pause(this.#clock, LOOK_AGAIN_MS);
  }

  /** Pids of what was seen and lives. */
  survivors(): number[] {
    return [...this.#seen.values()].filter((mark) => this.#processes?.isAlive(mark)).map(({ pid }) => pid);
  }
}

/** Signals a process, or a group by its negative number, that may be gone. */
export function killQuietly(pid: number, signal: Deno.Signal): void {
  try {
    Deno.kill(pid, signal);
  } catch { /* it is gone */ }
}
