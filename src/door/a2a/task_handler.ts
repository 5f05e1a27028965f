import type { AgentCard, Message, StreamResponse, Task } from "@a2a-js/sdk";
import {
  PushNotificationNotSupportedError,
  RequestMalformedError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import type { A2ARequestHandler, ServerCallContext } from "@a2a-js/sdk/server";
import type { Call } from "./calls.ts";
import type { DoorLimits } from "../limits.ts";
import { placeOf } from "../tasks/memory_store.ts";
import { settledOrGone } from "../reply_room.ts";
import type { TaskBoard } from "../tasks/task_board.ts";
import type { TaskPlace } from "../tasks/task_store.ts";
import { taskBytes } from "../tasks/task_words.ts";

type Params<Method extends keyof A2ARequestHandler> = Parameters<A2ARequestHandler[Method]>[0];

/** What a handler stands on. */
export interface TaskHandlerOptions {
  readonly board: TaskBoard;
  readonly card: AgentCard;
  readonly limits: Pick<DoorLimits, "pageBytes">;
}

const PAGE_SIZE = 50;
const CALLER = "boll/caller";

/**
 * The operations that are answered once, for the SDK's dispatcher. Its own handler is not used: it records what a task says
 * only as long as a client reads the stream, tells readers before it has recorded, and holds what they have not read
 * without a bound.
 */
export class TaskHandler implements A2ARequestHandler {
  readonly #board: TaskBoard;
  readonly #card: AgentCard;
  readonly #limits: TaskHandlerOptions["limits"];

  constructor({ board, card, limits }: TaskHandlerOptions) {
    this.#board = board;
    this.#card = card;
    this.#limits = limits;
  }

  getAgentCard(): Promise<AgentCard> {
    return Promise.resolve(this.#card);
  }

  getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    return Promise.reject(new UnsupportedOperationError("Get the extended card: there is none"));
  }

  async sendMessage({ message, configuration }: Params<"sendMessage">, context: ServerCallContext): Promise<Task> {
    const { caller, signal, hold } = stateOf(context);
    const task = this.#board.send(message as Message, caller);
    if (configuration?.returnImmediately !== true) await settledOrGone(task.rested(), signal);
    const shown = withHistory(task.task, configuration?.historyLength);
    // It is done: whoever heard 503 now would send it again.
    await hold.wait(taskBytes(shown), signal);
    return shown;
  }

  // deno-lint-ignore require-await
  async getTask({ id, historyLength }: Params<"getTask">, context: ServerCallContext): Promise<Task> {
    const { caller, hold } = stateOf(context);
    const shown = withHistory(this.#board.find(id, caller), historyLength);
    hold.claim(taskBytes(shown));
    return shown;
  }

  /** A page ends with its size, or about where it is too large; the next one goes on from there. */
  // deno-lint-ignore require-await
  async listTasks(params: Params<"listTasks">, context: ServerCallContext): ReturnType<A2ARequestHandler["listTasks"]> {
    const { contextId, status, pageSize = PAGE_SIZE, pageToken, historyLength, statusTimestampAfter } = params;
    const { caller, hold } = stateOf(context);
    const { records, total } = this.#board.list({
      ...(contextId !== "" && { contextId }),
      ...(status > 0 && { state: status }),
      ...(statusTimestampAfter !== undefined && { updatedAfter: new Date(statusTimestampAfter).toISOString() }),
      ...(pageToken !== "" && { behind: readToken(pageToken) }),
      limit: pageSize + 1,
    }, caller);
    const tasks: Task[] = [];
    let [bytes, last, isMore]: [number, TaskPlace | undefined, boolean] = [0, undefined, false];
    for (const record of records) {
      const artifacts = params.includeArtifacts ? record.task.artifacts : [];
      const task = { ...withHistory(record.task, historyLength), artifacts };
      const size = taskBytes(task);
      isMore = tasks.length === pageSize || (tasks.length > 0 && bytes + size > this.#limits.pageBytes);
      if (isMore) break;
      hold.claim(size);
      [bytes, last] = [bytes + size, placeOf(record)];
      tasks.push(task);
    }
    return { tasks, nextPageToken: isMore ? writeToken(last!) : "", pageSize, totalSize: total };
  }

  /** What it said is left out where there is no room for it: `GetTask` has it. */
  async cancelTask({ id }: Params<"cancelTask">, context: ServerCallContext): Promise<Task> {
    const { caller, hold } = stateOf(context);
    const task = await this.#board.cancel(id, caller);
    return hold.take(taskBytes(task)) ? task : { ...task, history: [], artifacts: [] };
  }

  /** Streams do not come here: the SDK's have neither ids nor bounds, `answerStream` has. */
  sendMessageStream(): AsyncGenerator<StreamResponse, void, undefined> {
    throw new UnsupportedOperationError();
  }

  resubscribe(): AsyncGenerator<StreamResponse, void, undefined> {
    throw new UnsupportedOperationError();
  }

  createTaskPushNotificationConfig(): Promise<never> {
    return Promise.reject(new PushNotificationNotSupportedError());
  }

  getTaskPushNotificationConfig(): Promise<never> {
    return Promise.reject(new PushNotificationNotSupportedError());
  }

  listTaskPushNotificationConfigs(): Promise<never> {
    return Promise.reject(new PushNotificationNotSupportedError());
  }

  deleteTaskPushNotificationConfig(): Promise<never> {
    return Promise.reject(new PushNotificationNotSupportedError());
  }
}

/** What a call's context carries of the door's. */
export function callState(state: CallState): Map<string, unknown> {
  return new Map<string, unknown>([[CALLER, state]]);
}

/** At most that many of the last messages; all when nothing is said. */
export function withHistory(task: Task, historyLength: number | undefined): Task {
  if (historyLength === undefined) return task;
  return { ...task, history: historyLength === 0 ? [] : task.history.slice(-historyLength) };
}

interface CallState extends Pick<Call, "caller" | "hold"> {
  readonly signal: AbortSignal;
}

function stateOf({ state }: ServerCallContext): CallState {
  return state.get(CALLER) as CallState;
}

function writeToken({ updated, id }: TaskPlace): string {
  return btoa(`${updated}|${id}`);
}

function readToken(token: string): TaskPlace {
  try {
    const [, updated, id] = /^([0-9TZ:.-]{20,30})\|(tsk_[0-9a-f]{32})$/.exec(atob(token)) ?? [];
    if (updated !== undefined && id !== undefined) return { updated, id };
  } catch { /* it is no base64 */ }
  throw new RequestMalformedError("Read the parameters of ListTasks: pageToken: wanted one that this door gave");
}
