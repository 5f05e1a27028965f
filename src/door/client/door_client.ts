import { type AgentCard, Role, type SendMessageRequest, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { UnsupportedOperationError } from "@a2a-js/sdk/errors";
import { newId } from "../../base/mod.ts";
import { DoorWire } from "./door_wire.ts";
import { FileJoiner } from "./file_joiner.ts";
import { isEnd, type TaskNews, type TaskView, toMessageView, toNews, toTaskNews, toTaskView } from "./task_news.ts";

/** Whom to ask, and what opens its door. */
export interface DoorClientOptions {
  readonly url: string;
  /** Shown to the origin of `url` and to nobody else, whatever its card says. */
  readonly token?: string;
  readonly signal?: AbortSignal;
  /** The most that all answers and streams together may have, bytes; default any number. */
  readonly maxBytes?: number;
  /** The way there; default straight. */
  readonly via?: Pick<Deno.CreateHttpClientOptions, "caCerts"> & { readonly proxy: Deno.Proxy };
  /** Before the next try to come back to a stream that was lost; default 100 ms, and twice as long each time. */
  readonly retryMs?: number;
}

/** One message. */
export interface OutgoingMessage {
  readonly text: string;
  readonly contextId?: string;
  /** The task that it answers. */
  readonly taskId?: string;
}

/** An event, and whether its id says that it is another than the one before. */
interface StreamedEvent {
  readonly event: StreamResponse;
  readonly isFurther: boolean;
}

type SdkClient = Awaited<ReturnType<ClientFactory["createFromAgentCard"]>>;

/** So often in a row a lost stream is asked for again before it is given up. */
const MAX_TRIES = 6;
const RETRY_MS = 100;

/** A client of one A2A agent. Disposing closes its connections. */
export class DoorClient implements Disposable {
  readonly #client: SdkClient;
  readonly #wire: DoorWire;
  readonly #options: DoorClientOptions;

  private constructor(client: SdkClient, wire: DoorWire, options: DoorClientOptions) {
    this.#client = client;
    this.#wire = wire;
    this.#options = options;
  }

  /** Reads the agent's card. @throws `door.unreachable`, `door.unauthenticated`, `door.refused` */
  static async open(options: DoorClientOptions): Promise<DoorClient> {
    const wire = new DoorWire(options);
    try {
      return new DoorClient(await wire.attempt(() => connect(options.url, wire)), wire, options);
    } catch (error) {
      wire.close();
      throw error;
    }
  }

  /** Sends a message and gives what becomes of it, to its end; comes back to a stream that is lost. @throws `door.*` */
  async *stream(message: OutgoingMessage): AsyncGenerator<TaskNews> {
    yield* this.#stay(() => this.#client.sendMessageStream(toRequest(message, false), this.#wire.call));
  }

  /** Sends a message; gives the task when it is accepted. @throws `door.*` */
  async submit(message: OutgoingMessage): Promise<TaskView> {
    const result = await this.#wire.attempt(() => this.#client.sendMessage(toRequest(message, true), this.#wire.call));
    return "messageId" in result ? toMessageView(result) : toTaskView(result);
  }

  /** What becomes of a task from now on, to its end; of one that has ended, how. @throws `door.*` */
  async *watch(taskId: string): AsyncGenerator<TaskNews> {
    const news = toTaskNews(await this.#get(taskId));
    if (isEnd(news.task.state)) {
      yield news;
      return;
    }
    yield* this.#stay(() => this.#rejoin(taskId), taskId);
  }

  /** @throws `door.*` */
  async get(taskId: string): Promise<TaskView> {
    return toTaskView(await this.#get(taskId));
  }

  /** The newest tasks. @throws `door.*` */
  async list(limit: number): Promise<readonly TaskView[]> {
    const request = {
      tenant: "",
      contextId: "",
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageSize: limit,
      pageToken: "",
      statusTimestampAfter: undefined,
    };
    const { tasks } = await this.#wire.attempt(() => this.#client.listTasks(request, this.#wire.call));
    return tasks.map(toTaskView);
  }

  /** @throws `door.*` */
  async cancel(taskId: string): Promise<TaskView> {
    const request = { tenant: "", id: taskId, metadata: undefined };
    return toTaskView(await this.#wire.attempt(() => this.#client.cancelTask(request, this.#wire.call)));
  }

  [Symbol.dispose](): void {
    this.#wire.close();
  }

  async #get(taskId: string): Promise<Task> {
    return await this.#wire.attempt(() => this.#client.getTask({ tenant: "", id: taskId }, this.#wire.call));
  }

  /** Follows a task until it rests, over as many streams as that takes. */
  async *#stay(open: () => AsyncGenerator<StreamResponse>, taskId?: string): AsyncGenerator<TaskNews> {
    let files = new FileJoiner();
    let isBack = false;
    for (let tries = 0;; tries++) {
      try {
        for await (const { event, isFurther } of this.#events(open)) {
          const isSnapshot = isBack && event.payload?.$case === "task";
          // An agent that says the same again and goes is not asked to say it for ever.
          if (isFurther && !isSnapshot) tries = 0;
          // What has begun of a file is in the task as it stands.
          if (isSnapshot) files = new FileJoiner();
          const news = toNews(files.take(event));
          if (news === undefined) continue;
          if (news.kind === "task" || news.kind === "state") taskId = news.task.task_id;
          yield isSnapshot && news.kind === "task" ? { ...news, hasGap: true } : news;
          if (isResting(news)) return;
        }
        // Whoever makes no task of a message has said all.
        if (taskId === undefined || tries >= MAX_TRIES) return;
      } catch (error) {
        if (taskId === undefined || !this.#wire.isLost) throw error;
        if (tries >= MAX_TRIES) throw error;
      }
      await this.#wait(tries);
      isBack = true;
      const id = taskId;
      open = () => this.#rejoin(id);
    }
  }

  async #wait(tries: number): Promise<void> {
    const { signal, retryMs = RETRY_MS } = this.#options;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(over, retryMs * 2 ** tries);
      function over() {
        clearTimeout(timer);
        signal?.removeEventListener("abort", over);
        resolve();
      }
      if (signal?.aborted) over();
      else signal?.addEventListener("abort", over);
    });
  }

  /** The events of one stream, each remembered by its id once it is told. */
  async *#events(open: () => AsyncGenerator<StreamResponse>): AsyncGenerator<StreamedEvent> {
    const events = open();
    for (;;) {
      const { value, done } = await this.#wire.attempt(() => events.next());
      if (done) return;
      yield { event: value, isFurther: this.#wire.heard() };
    }
  }

  /** The rest of a task's stream; of one that ended meanwhile and is not told any more, how it stands. */
  async *#rejoin(taskId: string): AsyncGenerator<StreamResponse> {
    const request = { tenant: "", id: taskId };
    try {
      yield* this.#client.resubscribeTask(request, this.#wire.call);
    } catch (error) {
      if (!(error instanceof UnsupportedOperationError)) throw error;
      const value = await this.#client.getTask(request, this.#wire.call);
      yield { payload: { $case: "task", value } };
    }
  }
}

async function connect(url: string, wire: DoorWire): Promise<SdkClient> {
  const fetchImpl = wire.fetch;
  const base = folderOf(url);
  const card = await new DefaultAgentCardResolver({ fetchImpl }).resolve(base);
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
    preferredTransports: ["JSONRPC"],
  });
  return await factory.createFromAgentCard(atOrigin(card, base));
}

/** A place as what its card is below: of several agents at an origin each has a path of its own. */
function folderOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/*$/, "/")}`;
}

/** What a card says of places counts only for the path: behind a proxy its origin is another, and it could be a lure. */
function atOrigin(card: AgentCard, base: string): AgentCard {
  const supportedInterfaces = card.supportedInterfaces.map((one) => {
    const { pathname, search } = new URL(one.url, base);
    return { ...one, url: new URL(`${pathname}${search}`, base).href };
  });
  return { ...card, supportedInterfaces };
}

function toRequest(
  { text, contextId = "", taskId = "" }: OutgoingMessage,
  returnImmediately: boolean,
): SendMessageRequest {
  return {
    tenant: "",
    message: {
      messageId: newId("msg"),
      contextId,
      taskId,
      role: Role.ROLE_USER,
      parts: [{ content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "text/plain" }],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately },
    metadata: undefined,
  };
}

function isResting(news: TaskNews): boolean {
  if (news.kind !== "task" && news.kind !== "state") return false;
  return isEnd(news.task.state) || news.task.state === "input_required";
}
