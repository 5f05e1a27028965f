import type { Clock } from "./clock.ts";
import { countFailure, CRASH_WEIGHT, NO_FAILURES, type RestartState, SPAWN_CRASH_WEIGHT } from "./restart.ts";
import type { SessionChild } from "./session_child.ts";
import { type ChildEnding, RESTARTED_AFTER } from "./session_launch.ts";

/** A child that ended, and how its restart is called off. */
interface Waiting {
  readonly child: SessionChild;
  readonly callOff: () => void;
}

/** Warm children that failed: whether each is started again, and those whose restart waits for its time. */
export class WarmRestarts {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #states = new Map<string, RestartState>();
  readonly #waiting = new Map<string, Waiting>();

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Those that wait. */
  get waiting(): readonly SessionChild[] {
    return [...this.#waiting.values()].map(({ child }) => child);
  }

  isWaiting(path: string): boolean {
    return this.#waiting.has(path);
  }

  /** What becomes of a child that has ended; `again` is called at its time. Nothing where it is not started again at all. */
  decide(child: SessionChild, ending: ChildEnding, again: () => void): ChildEnding["restart"] {
    const { path, request } = child;
    if (!request.warm || !RESTARTED_AFTER.includes(ending.ended_by)) return undefined;
    const { state, verdict } = countFailure(this.#states.get(path) ?? NO_FAILURES, {
      atMs: this.#clock.nowMs(),
      weight: ending.spawn_crash ? SPAWN_CRASH_WEIGHT : CRASH_WEIGHT,
      random: this.#random(),
    });
    this.#states.set(path, state);
    if (verdict.kind === "open") return verdict;
    const callOff = this.#clock.after(verdict.delayMs, () => {
      this.#waiting.delete(path);
      again();
    });
    this.#waiting.set(path, { child, callOff });
    return verdict;
  }

  /** It is not started again, and what it failed at before is forgotten. */
  callOff(path: string): void {
    this.#waiting.get(path)?.callOff();
    this.#waiting.delete(path);
    this.forget(path);
  }

  forget(path: string): void {
    this.#states.delete(path);
  }
}
