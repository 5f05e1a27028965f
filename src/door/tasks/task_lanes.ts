import type { LiveTask } from "./live_task.ts";

/** Tasks that wait: those of users and peers go ahead of the background's, each lane in its order. */
export class TaskLanes {
  readonly #front: LiveTask[] = [];
  readonly #back: LiveTask[] = [];

  get size(): number {
    return this.#front.length + this.#back.length;
  }

  add(task: LiveTask): void {
    (task.record.origin === "system" ? this.#back : this.#front).push(task);
  }

  /** The next one, taken out. */
  take(): LiveTask | undefined {
    return this.#front.shift() ?? this.#back.shift();
  }

  /** Takes one out; false when it does not wait. */
  remove(task: LiveTask): boolean {
    for (const lane of [this.#front, this.#back]) {
      const at = lane.indexOf(task);
      if (at >= 0) return lane.splice(at, 1).length === 1;
    }
    return false;
  }
}
