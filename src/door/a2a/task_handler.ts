import type { AgentCard, Message, StreamResponse, Task } from "@a2a-js/sdk";
import {
  PushNotificationNotSupportedError,
  RequestMalformedError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import type { A2ARequestHandler, ServerCallContext } from "@a2a-js/sdk/server";
import type { Caller } from "../identify.ts";
import type { LiveTask } from "../tasks/live_task.ts";
import { placeOf } from "../tasks/memory_store.ts";
import type { TaskBoard } from "../tasks/task_board.ts";
import type { TaskPlace } from "../tasks/task_store.ts";

type Params<Method extends keyof A2ARequestHandler> = Parameters<A2ARequestHandler[Method]>[0];

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

  constructor(board: TaskBoard, card: AgentCard) {
    this.#board = board;
    this.#card = card;
  }

  getAgentCard(): Promise<AgentCard> {
    return Promise.resolve(this.#card);
  }

  getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    return Promise.reject(new UnsupportedOperationError("Get the extended card: there is none"));
  }

  async sendMessage({ message, configuration }: Params<"sendMessage">, context: ServerCallContext): Promise<Task> {
    const task = this.#board.send(message as Message, callerOf(context));
    if (configuration?.returnImmediately !== true) await restedOrGone(task, stateOf(context).signal);
    return withHistory(task.task, configuration?.historyLength);
  }

  // deno-lint-ignore require-await
  async getTask({ id, historyLength }: Params<"getTask">, context: ServerCallContext): Promise<Task> {
    return withHistory(this.#board.find(id, callerOf(context)), historyLength);
  }

  // deno-lint-ignore require-await
  async listTasks(params: Params<"listTasks">, context: ServerCallContext): ReturnType<A2ARequestHandler["listTasks"]> {
    const { contextId, status, pageSize = PAGE_SIZE, pageToken, historyLength, statusTimestampAfter } = params;
    const { records, total } = this.#board.list({
      ...(contextId !== "" && { contextId }),
      ...(status > 0 && { state: status }),
      ...(statusTimestampAfter !== undefined && { updatedAfter: new Date(statusTimestampAfter).toISOString() }),
      ...(pageToken !== "" && { behind: readToken(pageToken) }),
      limit: pageSize + 1,
    }, callerOf(context));
    const shown = records.slice(0, pageSize);
    return {
      tasks: shown.map(({ task }) => ({
        ...withHistory(task, historyLength),
        artifacts: params.includeArtifacts ? task.artifacts : [],
      })),
      nextPageToken: records.length > shown.length ? writeToken(placeOf(shown.at(-1)!)) : "",
      pageSize,
      totalSize: total,
    };
  }

  cancelTask({ id }: Params<"cancelTask">, context: ServerCallContext): Promise<Task> {
    return this.#board.cancel(id, callerOf(context));
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
export function callState(caller: Caller, signal: AbortSignal): Map<string, unknown> {
  return new Map<string, unknown>([[CALLER, { caller, signal }]]);
}

/** At most that many of the last messages; all when nothing is said. */
export function withHistory(task: Task, historyLength: number | undefined): Task {
  if (historyLength === undefined) return task;
  return { ...task, history: historyLength === 0 ? [] : task.history.slice(-historyLength) };
}

interface CallState {
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

function stateOf({ state }: ServerCallContext): CallState {
  return state.get(CALLER) as CallState;
}

function callerOf(context: ServerCallContext): Caller {
  return stateOf(context).caller;
}

/** Until the task rests, or its client cannot get the answer any more. Nothing is left at the signal of a connection. */
async function restedOrGone(task: LiveTask, signal: AbortSignal): Promise<void> {
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  const onAbort = () => resolve();
  signal.addEventListener("abort", onAbort);
  await Promise.race([task.rested(), gone]);
  signal.removeEventListener("abort", onAbort);
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
