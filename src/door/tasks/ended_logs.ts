import { EventLog } from "./event_log.ts";

const MAX_LOGS = 256;
const MAX_BYTES = 32 * 1024 * 1024;

/** What was said of the tasks that ended last, for readers that come back late. */
export class EndedLogs {
  readonly #logs = new Map<string, EventLog>();
  #bytes = 0;

  add(taskId: string, log: EventLog): void {
    this.#logs.set(taskId, log);
    this.#bytes += log.bytes;
    for (const [id, oldest] of this.#logs) {
      if (this.#logs.size <= MAX_LOGS && this.#bytes <= MAX_BYTES) return;
      this.#logs.delete(id);
      this.#bytes -= oldest.bytes;
    }
  }

  find(taskId: string): EventLog | undefined {
    return this.#logs.get(taskId);
  }

  /** The log of a task of which nothing is kept. */
  empty(): EventLog {
    return new EventLog({ replayEvents: 1, replayBytes: 0, readerEvents: 1 });
  }
}
