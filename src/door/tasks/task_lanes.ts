import type { LiveTask } from "./live_task.ts";
import { taskBytes } from "./task_words.ts";

/** Tasks that wait: those of users and peers go ahead of the background's, each lane in its order. */
export class TaskLanes {
  readonly #front: LiveTask[] = [];
  readonly #back: LiveTask[] = [];
  #bytes = 0;

  /** About what those that wait hold in memory: a task that waits does not change. */
  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#front.length + this.#back.length;
  }

  add(task: LiveTask): void {
    (task.record.origin === "system" ? this.#back : this.#front).push(task);
    this.#bytes += taskBytes(task.task);
  }

  /** The next one, taken out. */
  take(): LiveTask | undefined {
    const task = this.#front.shift() ?? this.#back.shift();
    if (task !== undefined) this.#bytes -= taskBytes(task.task);
    return task;
  }

  /** Takes one out; false when it does not wait. */
  remove(task: LiveTask): boolean {
    for (const lane of [this.#front, this.#back]) {
      const at = lane.indexOf(task);
      if (at < 0) continue;
      lane.splice(at, 1);
      this.#bytes -= taskBytes(task.task);
      return true;
    }
    return false;
  }
}
