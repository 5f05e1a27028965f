import { type Message, type Task, TaskState } from "@a2a-js/sdk";
import {
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import { newId } from "../../base/mod.ts";
import type { Clock } from "../clock.ts";
import type { DoorEvent } from "../door_event.ts";
import { EndedLogs } from "./ended_logs.ts";
import type { EventReader } from "./event_log.ts";
import { type Caller, OWNER } from "../identify.ts";
import type { DoorLimits } from "../limits.ts";
import { GateError, LiveTask } from "./live_task.ts";
import { type MessageContent, readMessage } from "./read_message.ts";
import { TaskLanes } from "./task_lanes.ts";
import type { TaskPage, TaskQuery, TaskRecord, TaskStore } from "./task_store.ts";
import { hasEnded, stateName, statusOf, taskBytes } from "./task_words.ts";
import { ANONYMOUS, type DoorWork, type TaskEnd } from "../work.ts";

/** What a board is made of. */
export interface TaskBoardOptions {
  readonly work: DoorWork;
  readonly store: TaskStore;
  /** Whether tasks that are left are for a later session. */
  readonly isDurable: boolean;
  readonly accept: "single" | "queue";
  readonly queueDepth: number;
  readonly isIdempotent: boolean;
  readonly inputModes: readonly string[];
  readonly maxTextBytes?: number;
  readonly record: (event: DoorEvent) => void;
  readonly clock: Clock;
  readonly limits: DoorLimits;
}

/** No message is taken any more, or for now: the client may ask again later. */
export class DoorBusyError extends Error {
  override readonly name = "DoorBusyError";

  constructor(message = "Take a message: the session is ending") {
    super(message);
  }
}

/** A stream of a task: where it stands, when the reader has not heard it, and what follows. */
export interface TaskStream {
  readonly first?: { readonly id: string; readonly task: Task };
  readonly reader: EventReader;
}

/** The part of the places that one peer may have. */
const PEER_SHARE = 0.5;

const INTERRUPTED = "interrupted: the session that worked on this task ended";

/** All tasks of a door: takes them, has them done one at a time, and knows what became of them. */
export class TaskBoard {
  readonly #options: TaskBoardOptions;
  readonly #live = new Map<string, LiveTask>();
  readonly #lanes = new TaskLanes();
  readonly #logs: EndedLogs;
  readonly #done = Promise.withResolvers<void>();
  readonly #reruns = new Set<LiveTask>();
  readonly #started = new Map<LiveTask, number>();
  #running: Promise<void> | undefined;
  #current: LiveTask | undefined;
  #hasAccepted = false;
  #isDraining = false;
  #isBroken = false;

  constructor(options: TaskBoardOptions) {
    this.#options = options;
    this.#logs = new EndedLogs();
    this.#restore();
  }

  /** Settles when no more work will come. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  /** Whether a message would be taken. */
  get isTaking(): boolean {
    return !this.#isDraining && !this.#isBroken;
  }

  /** Tasks that wait. */
  get waiting(): number {
    return this.#lanes.size;
  }

  /** Tasks that have begun and not ended. */
  get running(): number {
    return this.#current === undefined ? 0 : 1;
  }

  /** Who listens to tasks. */
  get readers(): number {
    return [...this.#live.values()].reduce((sum, { log }) => sum + log.readers, 0);
  }

  /** Begins with what an earlier session left. */
  start(): void {
    this.#next();
  }

  /**
   * Takes a message: a new task, or an answer to one that asks.
   *
   * @throws the protocol's errors, {@link DoorBusyError}
   */
  send(message: Message, caller: Caller): LiveTask {
    if (!this.isTaking) throw new DoorBusyError();
    const content = readMessage(message, this.#options);
    return message.taskId === "" ? this.#accept(message, caller) : this.#answer(message, content, caller);
  }

  /** @throws {TaskNotFoundError} when there is none that the caller may see */
  find(id: string, caller: Caller): Task {
    return this.#recordOf(id, caller).task;
  }

  /** The caller's tasks; an owner's are all. */
  list(query: TaskQuery, { isOwner, principal }: Caller): TaskPage {
    const page = this.#options.store.list(isOwner ? query : { ...query, principal });
    // What a task says while it runs is kept with its next state.
    const records = Iterator.from(page.records).map((record) => this.#live.get(record.task.id)?.record ?? record);
    return { ...page, records };
  }

  /** Ends a task and gives it as it is then. @throws {TaskNotCancelableError} */
  async cancel(id: string, caller: Caller): Promise<Task> {
    const { task } = this.#recordOf(id, caller);
    const live = this.#live.get(id);
    if (live === undefined) {
      if (task.status!.state === TaskState.TASK_STATE_CANCELED) return task;
      throw new TaskNotCancelableError(`Cancel a task: it is ${stateName(task)}`);
    }
    const end: TaskEnd = { state: "canceled", reason: "canceled" };
    if (this.#lanes.remove(live)) this.#end(live, end);
    else {
      live.stop("canceled");
      const unwatch = this.#options.clock.after(this.#options.limits.cancelMs, () => {
        this.#end(live, end);
      });
      await live.ended;
      unwatch();
    }
    if (live.task.status!.state === TaskState.TASK_STATE_CANCELED) return live.task;
    throw new TaskNotCancelableError(`Cancel a task: it is ${stateName(live.task)}`);
  }

  /**
   * Listens to a task, from now on or after an event that was heard. One that has ended is told to those who come back,
   * as far as its events are kept; whoever asks anew has it with `GetTask`.
   *
   * @throws {UnsupportedOperationError} when it has ended and nothing was heard before
   */
  subscribe(id: string, caller: Caller, after: string | undefined): TaskStream {
    const { task } = this.#recordOf(id, caller);
    const live = this.#live.get(id);
    const log = live?.log ?? this.#logs.find(id);
    const resumed = after === undefined ? undefined : log?.resume(after);
    if (resumed !== undefined) return { reader: resumed };
    if (after === undefined && hasEnded(task)) {
      throw new UnsupportedOperationError(`Subscribe to a task: it is ${stateName(task)}, GetTask has it`);
    }
    const open = log ?? this.#logs.empty();
    const first = { id: open.position, task: after === undefined ? task : withGap(task, after) };
    const reader = open.subscribe();
    if (hasEnded(task)) reader.end();
    return { first, reader };
  }

  /** Takes nothing more, ends what runs, and says what becomes of what waits. Settles within that time. */
  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    const current = this.#current;
    current?.stop("interrupted");
    if (!this.#options.isDurable) {
      for (let task = this.#lanes.take(); task !== undefined; task = this.#lanes.take()) {
        this.#end(task, { state: "rejected", reason: "the session ended before it came to this task" });
      }
    }
    if (current !== undefined) {
      const unwatch = this.#options.clock.after(graceMs, () => this.#interrupt(current));
      await current.ended;
      unwatch();
    }
    for (const task of this.#live.values()) task.leave();
    this.#done.resolve();
  }

  #recordOf(id: string, { isOwner, principal }: Caller): TaskRecord {
    const record = this.#live.get(id)?.record ?? this.#options.store.find(id);
    if (record === undefined || (!isOwner && record.principal !== principal)) {
      throw new TaskNotFoundError("Find a task: no task of that id");
    }
    return record;
  }

  #accept(message: Message, caller: Caller): LiveTask {
    const contextId = this.#contextOf(message, caller);
    const id = newId("tsk", () => this.#options.clock.now());
    const status = statusOf(TaskState.TASK_STATE_SUBMITTED, this.#options.clock.now());
    const history = [{ ...message, contextId, taskId: id }];
    const task: Task = { id, contextId, status, artifacts: [], history, metadata: undefined };
    const live = this.#liveOf({ task, principal: caller.principal, origin: caller.origin });
    const refusal = this.#refusal(task, caller);
    this.#keep(() => live.submit());
    this.#live.set(id, live);
    if (refusal !== undefined) {
      this.#end(live, { state: "rejected", reason: refusal });
      return live;
    }
    this.#hasAccepted = true;
    this.#lanes.add(live);
    // In a turn of its own: whoever sent it listens first.
    queueMicrotask(() => this.#next());
    return live;
  }

  /** A context belongs to whom its first task belongs to; the owner may enter all. */
  #contextOf({ contextId }: Message, { isOwner, principal }: Caller): string {
    if (contextId === "") return newId("ctx", () => this.#options.clock.now());
    const holder = isOwner ? principal : this.#options.store.principalOf(contextId) ?? principal;
    if (holder !== principal) throw new RequestMalformedError("Take a message: message.contextId is another sender's");
    return contextId;
  }

  #refusal(task: Task, { principal, isOwner }: Caller): string | undefined {
    const { accept, queueDepth, limits } = this.#options;
    if (accept === "single" && this.#hasAccepted) return "this session takes one task, and has it";
    // One that begins at once does not wait.
    const waiting = this.#lanes.size + (this.#current === undefined ? 0 : 1);
    if (waiting > queueDepth) return `${queueDepth} tasks wait already`;
    const full = isOwner || principal === ANONYMOUS ? undefined : this.#refusePeer(principal);
    if (full !== undefined) return full;
    const current = this.#current === undefined ? 0 : taskBytes(this.#current.task);
    const held = this.#lanes.bytes + current + taskBytes(task);
    return held > limits.liveBytes ? "what waits already is too large for one more of this size" : undefined;
  }

  /** One peer that floods the door leaves room for others, and all of them a place for the owner. */
  #refusePeer(principal: string): string | undefined {
    const { queueDepth } = this.#options;
    const [share, all] = [Math.ceil(queueDepth * PEER_SHARE), Math.max(1, queueDepth - 1)];
    if (this.#lanes.sizeOf(principal) >= share) return `${share} tasks of this sender wait already`;
    const ofPeers = this.#lanes.size - this.#lanes.sizeOf(OWNER);
    return ofPeers >= all ? `${all} tasks of peers wait already` : undefined;
  }

  #answer(message: Message, content: MessageContent, caller: Caller): LiveTask {
    const { task } = this.#recordOf(message.taskId, caller);
    if (message.contextId !== "" && message.contextId !== task.contextId) {
      throw new RequestMalformedError("Take a message: message.contextId is not the task's");
    }
    const live = this.#live.get(task.id);
    if (live === undefined || !live.isAsking) {
      throw new UnsupportedOperationError(`Take a message for a task: it is ${stateName(task)}, wanted input_required`);
    }
    this.#keep(() => live.answer({ ...message, contextId: task.contextId }, { ...content, origin: caller.origin }));
    return live;
  }

  #liveOf(record: TaskRecord): LiveTask {
    const { store, clock, limits, record: tell } = this.#options;
    const task_id = record.task.id;
    return new LiveTask(record, {
      store,
      clock,
      limits,
      onGate: (how) => tell(how === "opened" ? { event: "gate", task_id } : { event: "gate_closed", task_id, how }),
      onDropped: (count) => tell({ event: "readers_dropped", task_id, count }),
    });
  }

  /** Has the next one done, unless one is under way. */
  #next(): void {
    if (this.#running !== undefined || this.#isDraining) return;
    const task = this.#lanes.take();
    if (task === undefined) return;
    this.#current = task;
    this.#running = this.#run(task).finally(() => {
      this.#running = this.#current = undefined;
      if (this.#options.accept === "single") this.#done.resolve();
      this.#next();
    });
  }

  async #run(live: LiveTask): Promise<void> {
    const { origin, principal, task: { id, contextId, history } } = live.record;
    const isRerun = this.#reruns.delete(live);
    this.#started.set(live, this.#options.clock.now());
    this.#options.record({
      event: "task_start",
      task_id: id,
      context_id: contextId,
      origin,
      principal,
      is_rerun: isRerun,
    });
    let end: TaskEnd;
    try {
      live.work();
      const [message] = history;
      const { text, files } = readMessage(message!, { inputModes: ["*"] });
      end = await this.#options.work.run({
        id,
        contextId,
        messageId: message!.messageId,
        text,
        files,
        origin,
        principal,
        signal: live.signal,
        isRerun,
      }, live.voice());
    } catch (error) {
      end = { state: "failed", reason: error instanceof GateError ? error.message : "a failure of the session's own" };
    }
    if (live.stopped === undefined || end.state === "completed") this.#end(live, end);
    else if (live.stopped === "canceled") this.#end(live, { ...end, state: "canceled", reason: "canceled" });
    else this.#interrupt(live);
  }

  /** The session ends and nobody cancelled: it waits for the next one when it may be done twice, else it has failed. */
  #interrupt(live: LiveTask): void {
    if (hasEnded(live.task)) return;
    if (this.#options.isDurable && this.#options.isIdempotent) {
      this.#keep(() => live.suspend());
    } else this.#end(live, { state: "failed", reason: INTERRUPTED });
  }

  #end(live: LiveTask, end: TaskEnd): void {
    if (hasEnded(live.task)) return;
    try {
      live.end(end);
    } catch {
      // It cannot be kept: nothing more is taken, and its sender hears that it failed, as the next session will say.
      this.#isBroken = true;
      live.endUnkept("this task could not be recorded");
    }
    const { task } = live;
    this.#live.delete(task.id);
    this.#logs.add(task.id, live.log);
    const started = this.#started.get(live);
    this.#started.delete(live);
    this.#options.record({
      event: "task_end",
      task_id: task.id,
      state: stateName(task) as TaskEnd["state"],
      ...(end.reason !== undefined && { reason: end.reason }),
      duration_ms: started === undefined ? 0 : this.#options.clock.now() - started,
    });
  }

  #keep(change: () => void): void {
    try {
      change();
    } catch {
      this.#isBroken = true;
      throw new DoorBusyError("Take a message: tasks cannot be recorded");
    }
  }

  /** What an earlier session left: what waited waits, what ran has failed or runs again. */
  #restore(): void {
    for (const record of this.#options.store.unfinished()) {
      const live = this.#liveOf(record);
      this.#live.set(record.task.id, live);
      const hasBegun = record.task.status!.state !== TaskState.TASK_STATE_SUBMITTED;
      if (hasBegun && !this.#options.isIdempotent) {
        this.#end(live, { state: "failed", reason: INTERRUPTED });
        continue;
      }
      live.restart();
      if (hasBegun) this.#reruns.add(live);
      this.#hasAccepted = true;
      this.#lanes.add(live);
    }
  }
}

function withGap(task: Task, after: string): Task {
  return { ...task, metadata: { ...task.metadata, "boll/gap": { after } } };
}
