import type { Task, TaskState } from "@a2a-js/sdk";
import type { TaskOrigin } from "../work.ts";

/** A task and whose it is. */
export interface TaskRecord {
  readonly task: Task;
  readonly principal: string;
  readonly origin: TaskOrigin;
}

/** Which tasks are asked for: all that is given must fit. */
export interface TaskQuery {
  readonly principal?: string;
  readonly contextId?: string;
  readonly state?: TaskState;
  /** Told of since then: ISO 8601. */
  readonly updatedAfter?: string;
  /** Only those behind this one, in the order of the answer. */
  readonly behind?: TaskPlace;
  readonly limit: number;
}

/** Where a task stands in a list. */
export interface TaskPlace {
  readonly updated: string;
  readonly id: string;
}

/** A part of a list, the last changed first. */
export interface TaskPage {
  /** Read one by one: who has enough takes no more. To be taken at once, before anything else is kept. */
  readonly records: Iterable<TaskRecord>;
  /** How many fit, whatever the place. */
  readonly total: number;
}

/** Where tasks are kept. What a call has taken is kept when it returns: nothing is announced before. */
export interface TaskStore {
  /** @throws when the id was used before, or it cannot be kept */
  insert(record: TaskRecord): void;
  /** @throws when it cannot be kept */
  update(record: TaskRecord): void;
  find(id: string): TaskRecord | undefined;
  /** Whose the first task of a context is. */
  principalOf(contextId: string): string | undefined;
  list(query: TaskQuery): TaskPage;
  /** All that have not ended, the oldest first. */
  unfinished(): TaskRecord[];
  close(): void;
}
