import { type AgentCard, Role, type SendMessageRequest, TaskState } from "@a2a-js/sdk";
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { TaskNotCancelableError, TaskNotFoundError } from "@a2a-js/sdk/errors";
import { CapsuleError, errorCodeOf, newId, printableLine } from "../../base/mod.ts";
import { FileJoiner } from "./file_joiner.ts";
import { isEnd, type TaskNews, type TaskView, toMessageView, toNews, toTaskView } from "./task_news.ts";

/** Whom to ask, and what opens its door. */
export interface DoorClientOptions {
  readonly url: string;
  /** Shown to the origin of `url` and to nobody else, whatever its card says. */
  readonly token?: string;
  readonly signal?: AbortSignal;
}

/** One message. */
export interface OutgoingMessage {
  readonly text: string;
  readonly contextId?: string;
  /** The task that it answers. */
  readonly taskId?: string;
}

type SdkClient = Awaited<ReturnType<ClientFactory["createFromAgentCard"]>>;

/** These would send a token through a stranger's proxy. */
const PROXY_VARIABLES = ["http_proxy", "https_proxy", "all_proxy"].flatMap((name) => [name, name.toUpperCase()]);

/** A client of one A2A agent. Disposing closes its connections. */
export class DoorClient implements Disposable {
  readonly #client: SdkClient;
  readonly #wire: Wire;

  private constructor(client: SdkClient, wire: Wire) {
    this.#client = client;
    this.#wire = wire;
  }

  /** Reads the agent's card. @throws `door.unreachable`, `door.unauthenticated`, `door.refused` */
  static async open(options: DoorClientOptions): Promise<DoorClient> {
    for (const name of PROXY_VARIABLES) Deno.env.delete(name);
    const wire = new Wire(options);
    try {
      return new DoorClient(await wire.attempt(() => connect(options.url, wire)), wire);
    } catch (error) {
      wire.close();
      throw error;
    }
  }

  /** Sends a message and gives what becomes of it, to its end. @throws `door.*` */
  async *stream(message: OutgoingMessage): AsyncGenerator<TaskNews> {
    yield* this.#follow(() => this.#client.sendMessageStream(toRequest(message, false), this.#wire.call));
  }

  /** Sends a message; gives the task when it is accepted. @throws `door.*` */
  async submit(message: OutgoingMessage): Promise<TaskView> {
    const result = await this.#wire.attempt(() => this.#client.sendMessage(toRequest(message, true), this.#wire.call));
    return "messageId" in result ? toMessageView(result) : toTaskView(result);
  }

  /** What becomes of a task from now on, to its end; of one that has ended, how. @throws `door.*` */
  async *watch(taskId: string): AsyncGenerator<TaskNews> {
    const task = await this.get(taskId);
    if (isEnd(task.state)) {
      yield { kind: "task", task };
      return;
    }
    try {
      yield* this.#follow(() => this.#client.resubscribeTask({ tenant: "", id: taskId }, this.#wire.call));
    } catch (error) {
      // It ended between the two questions.
      const now = await this.get(taskId);
      if (!isEnd(now.state)) throw error;
      yield { kind: "task", task: now };
    }
  }

  /** @throws `door.*` */
  async get(taskId: string): Promise<TaskView> {
    const request = { tenant: "", id: taskId };
    return toTaskView(await this.#wire.attempt(() => this.#client.getTask(request, this.#wire.call)));
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

  async *#follow(open: () => AsyncGenerator<Parameters<typeof toNews>[0]>): AsyncGenerator<TaskNews> {
    const events = open();
    const files = new FileJoiner();
    for (;;) {
      const { value, done } = await this.#wire.attempt(() => events.next());
      if (done) return;
      const news = toNews(files.take(value));
      if (news !== undefined) yield news;
    }
  }
}

async function connect(url: string, wire: Wire): Promise<SdkClient> {
  const fetchImpl = wire.fetch;
  const card = await new DefaultAgentCardResolver({ fetchImpl }).resolve(url);
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
    preferredTransports: ["JSONRPC"],
  });
  return await factory.createFromAgentCard(atOrigin(card, url));
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

/** The way to one origin, and the first thing that went wrong on it in words of our own. */
class Wire {
  readonly #origin: string;
  readonly #shown: string;
  readonly #token: string | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #http = Deno.createHttpClient({ poolMaxIdlePerHost: 1 });
  #fault: CapsuleError | undefined;

  constructor({ url, token, signal }: DoorClientOptions) {
    this.#origin = new URL(url).origin;
    this.#shown = printableLine(this.#origin, 200);
    this.#token = token;
    this.#signal = signal;
  }

  /** Options of each call. */
  get call(): { readonly signal?: AbortSignal } {
    return this.#signal === undefined ? {} : { signal: this.#signal };
  }

  close(): void {
    this.#http.close();
  }

  /** The SDK wraps errors in its own: the fault that was seen on the wire counts for more. */
  async attempt<Value>(ask: () => Promise<Value>): Promise<Value> {
    this.#fault = undefined;
    try {
      return await ask();
    } catch (error) {
      throw this.#fault ?? this.#translate(error);
    }
  }

  readonly fetch: typeof fetch = async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : String(input));
    if (url.origin !== this.#origin) throw this.#fail("door.refused", `it sends to another place, ${url.origin}`);
    const headers = new Headers((init as RequestInit).headers);
    if (this.#token !== undefined) headers.set("authorization", `Bearer ${this.#token}`);
    const signal = this.#signal ?? (init as { signal?: AbortSignal }).signal;
    let response: Response;
    try {
      const options = {
        ...init,
        headers,
        redirect: "manual",
        client: this.#http,
        ...(signal ? { signal } : {}),
      } as const;
      response = await fetch(url, options);
    } catch (error) {
      if (this.#signal?.aborted) throw this.#fail("door.interrupted", "interrupted");
      throw this.#fail(
        "door.unreachable",
        `nobody answers there (${printableLine((error as Error).message.split(": ").at(-1) ?? "", 200)})`,
      );
    }
    if (response.ok) return response;
    const fault = this.#faultOf(response.status);
    if (fault === undefined) return response;
    await response.body?.cancel();
    throw fault;
  };

  #faultOf(status: number): CapsuleError | undefined {
    switch (status) {
      case 401:
      case 403: {
        const fix = this.#token === undefined
          ? "give one: --token, or BOLL_TOKEN"
          : "the one that was given is not known there";
        return this.#fail("door.unauthenticated", `it wants a token; ${fix}`);
      }
      case 503:
        return this.#fail("door.unreachable", "it is busy or going down; try again");
      case 413:
        return this.#fail("door.refused", "the message is too large for it");
      case 404:
        return this.#fail("door.refused", "no A2A agent is there (404)");
      default:
        return status >= 300 && status < 400
          ? this.#fail("door.refused", "it leads elsewhere, which is not followed")
          : undefined;
    }
  }

  #fail(
    code: "door.refused" | "door.unreachable" | "door.unauthenticated" | "door.interrupted",
    why: string,
  ): CapsuleError {
    return this.#fault ??= new CapsuleError(code, `Ask ${this.#shown}: ${why}`);
  }

  #translate(error: unknown): unknown {
    if (errorCodeOf(error) !== undefined) return error;
    if (this.#signal?.aborted) return this.#fail("door.interrupted", "interrupted");
    if (!(error instanceof Error)) return error;
    const words = printableLine(error.message, 400);
    if (error instanceof TaskNotFoundError) {
      return new CapsuleError("door.unknown_task", `Ask ${this.#shown}: ${words}`);
    }
    if (error instanceof TaskNotCancelableError) {
      return new CapsuleError("door.refused", `Ask ${this.#shown}: ${words}`);
    }
    return new CapsuleError("door.refused", `Ask ${this.#shown}: ${words}`, { cause: error });
  }
}
