import { hasEnded, taskBytes } from "./task_words.ts";
import type { TaskPage, TaskPlace, TaskQuery, TaskRecord, TaskStore } from "./task_store.ts";

/** The bounds of {@link MemoryStore}. */
export interface MemoryStoreLimits {
  readonly endedTasks: number;
  readonly endedBytes: number;
}

/** Tasks that end with this process. Those that have ended go before it, the oldest first, when they are too many. */
export class MemoryStore implements TaskStore {
  readonly #limits: MemoryStoreLimits;
  readonly #records = new Map<string, TaskRecord>();
  /** In the order in which they ended. */
  readonly #ended = new Map<string, number>();
  #endedBytes = 0;
  /** Whose each context is while a task of it is kept: it must not become another's when its first task goes. */
  readonly #contexts = new Map<string, { readonly principal: string; tasks: number }>();

  constructor(limits: MemoryStoreLimits) {
    this.#limits = limits;
  }

  insert(record: TaskRecord): void {
    if (this.#records.has(record.task.id)) throw new Error("Keep a task: its id was used before");
    const { task: { contextId }, principal } = record;
    const context = this.#contexts.get(contextId);
    if (context === undefined) this.#contexts.set(contextId, { principal, tasks: 1 });
    else context.tasks++;
    this.update(record);
  }

  update(record: TaskRecord): void {
    const { task } = record;
    this.#records.set(task.id, record);
    if (!hasEnded(task) || this.#ended.has(task.id)) return;
    const bytes = taskBytes(task);
    this.#ended.set(task.id, bytes);
    this.#endedBytes += bytes;
    for (const [id, held] of this.#ended) {
      if (this.#ended.size <= this.#limits.endedTasks && this.#endedBytes <= this.#limits.endedBytes) break;
      // The last one stays, however large: its sender has not asked for it yet.
      if (id === task.id) break;
      this.#ended.delete(id);
      this.#leave(this.#records.get(id)!);
      this.#records.delete(id);
      this.#endedBytes -= held;
    }
  }

  #leave({ task: { contextId } }: TaskRecord): void {
    const context = this.#contexts.get(contextId);
    if (context !== undefined && --context.tasks === 0) this.#contexts.delete(contextId);
  }

  find(id: string): TaskRecord | undefined {
    return this.#records.get(id);
  }

  principalOf(contextId: string): string | undefined {
    return this.#contexts.get(contextId)?.principal;
  }

  list({ principal, contextId, state, updatedAfter, behind, limit }: TaskQuery): TaskPage {
    const fitting = [...this.#records.values()].filter((record) =>
      (principal === undefined || record.principal === principal) &&
      (contextId === undefined || record.task.contextId === contextId) &&
      (state === undefined || record.task.status!.state === state) &&
      (updatedAfter === undefined || placeOf(record).updated > updatedAfter)
    ).sort((a, b) => order(placeOf(a), placeOf(b)));
    const rest = behind === undefined ? fitting : fitting.filter((record) => order(behind, placeOf(record)) < 0);
    return { records: rest.slice(0, limit), total: fitting.length };
  }

  unfinished(): TaskRecord[] {
    return [];
  }

  close(): void {}
}

/** Where a task stands in a list. */
export function placeOf({ task }: TaskRecord): TaskPlace {
  return { updated: task.status!.timestamp!, id: task.id };
}

function order(a: TaskPlace, b: TaskPlace): number {
  if (a.updated !== b.updated) return a.updated < b.updated ? 1 : -1;
  return a.id === b.id ? 0 : a.id < b.id ? 1 : -1;
}
