import type { LiveTask } from "./live_task.ts";
import { taskBytes } from "./task_words.ts";

/** Tasks that wait: those of users and peers go ahead of the background's, each lane in its order. */
export class TaskLanes {
  readonly #front: LiveTask[] = [];
  readonly #back: LiveTask[] = [];
  readonly #waiting = new Map<string, number>();
  #bytes = 0;

  /** About what those that wait hold in memory: a task that waits does not change. */
  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#front.length + this.#back.length;
  }

  /** Those of one sender. */
  sizeOf(principal: string): number {
    return this.#waiting.get(principal) ?? 0;
  }

  add(task: LiveTask): void {
    (task.record.origin === "system" ? this.#back : this.#front).push(task);
    this.#count(task, 1);
  }

  /** The next one, taken out. */
  take(): LiveTask | undefined {
    const task = this.#front.shift() ?? this.#back.shift();
    if (task !== undefined) this.#count(task, -1);
    return task;
  }

  /** Takes one out; false when it does not wait. */
  remove(task: LiveTask): boolean {
    for (const lane of [this.#front, this.#back]) {
      const at = lane.indexOf(task);
      if (at < 0) continue;
      lane.splice(at, 1);
      this.#count(task, -1);
      return true;
    }
    return false;
  }

  #count({ task, record: { principal } }: LiveTask, by: 1 | -1): void {
    this.#bytes += by * taskBytes(task);
    const waiting = this.sizeOf(principal) + by;
    if (waiting === 0) this.#waiting.delete(principal);
    else this.#waiting.set(principal, waiting);
  }
}
