import { type Message, SendMessageRequest, StreamResponse, type Task } from "@a2a-js/sdk";
import { VersionNotSupportedError } from "@a2a-js/sdk/errors";
import { JsonRpcTransportHandler, ServerCallContext } from "@a2a-js/sdk/server";
import { PROTOCOL_VERSION } from "./agent_card.ts";
import { checkParams } from "./check_params.ts";
import { eventBytes, taskEvents } from "../tasks/artifact_pieces.ts";
import type { Clock } from "../clock.ts";
import type { EventReader } from "../tasks/event_log.ts";
import type { HttpReply, HttpRequest } from "../http/http_message.ts";
import type { Caller } from "../identify.ts";
import type { DoorLimits } from "../limits.ts";
import { NO_ROOM, type ReplyHold } from "../reply_room.ts";
import { type FirstEvent, sseReply } from "./sse_stream.ts";
import { DoorBusyError, type TaskBoard, type TaskStream } from "../tasks/task_board.ts";
import { callState, type TaskHandler, withHistory } from "./task_handler.ts";

/** One operation of the protocol, whatever binding it came by. */
export interface Call {
  readonly method: string;
  /** As they came; nobody has looked at them. */
  readonly params: unknown;
  readonly caller: Caller;
  readonly request: HttpRequest;
  /** What its answer holds. */
  readonly hold: ReplyHold;
}

/** An error as JSON-RPC has it. */
export interface CallError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** What came of a call. */
export type CallResult =
  | { readonly kind: "result"; readonly result: unknown }
  | { readonly kind: "error"; readonly error: CallError }
  /** A stream; the binding says how its events are wrapped. */
  | { readonly kind: "stream"; readonly reply: (wrap: StreamWrap) => HttpReply }
  /** For a while nothing is taken. */
  | { readonly kind: "busy"; readonly message: string };

/** How a binding puts a `StreamResponse` and an error into its events. */
export interface StreamWrap {
  wrap(json: string): string;
  error(error: CallError): string;
}

/** JSON-RPC error of a reader that was dropped. */
const LAGGED: CallError = {
  code: -31003,
  message: "Read a stream: too many events were not taken in time; come back with Last-Event-ID",
};

const INTERNAL = -32603;
const NO_METHOD = -32601;
const STREAMS: ReadonlySet<string> = new Set(["SendStreamingMessage", "SubscribeToTask"]);

/** What all calls of a door share. */
export interface CallsOptions {
  readonly board: TaskBoard;
  readonly handler: TaskHandler;
  readonly clock: Clock;
  readonly limits: DoorLimits;
}

/** Has operations done: those with one answer by the SDK's dispatcher, streams here. */
export class Calls {
  readonly #options: CallsOptions;
  readonly #dispatcher: JsonRpcTransportHandler;

  constructor(options: CallsOptions) {
    this.#options = options;
    this.#dispatcher = new JsonRpcTransportHandler(options.handler);
  }

  /** Never rejects. */
  async run(call: Call): Promise<CallResult> {
    try {
      checkVersion(call.request.header("a2a-version"));
      checkParams(call.method, call.params);
      if (call.method === "SendMessage" && !this.#options.board.isTaking) throw new DoorBusyError();
      return STREAMS.has(call.method) ? this.#stream(call) : await this.#once(call);
    } catch (error) {
      return failed(error);
    }
  }

  async #once({ method, params, caller, request, hold }: Call): Promise<CallResult> {
    const state = callState({ caller, signal: request.signal, hold });
    const context = new ServerCallContext({ requestedVersion: PROTOCOL_VERSION, state });
    // The door keeps its tasks apart by who sent them; a tenant would be somebody's word.
    const { tenant: _, ...own } = (params ?? {}) as Record<string, unknown>;
    const body = { jsonrpc: "2.0", id: 1, method, params: own };
    const { error, result } = await this.#dispatcher.handle(body, context) as { result?: unknown; error?: CallError };
    if (hold.wasRefused) throw new DoorBusyError(NO_ROOM);
    if (error === undefined) return { kind: "result", result };
    return { kind: "error", error: error.code === NO_METHOD ? unknownMethod(method) : told(error) };
  }

  #stream(call: Call): CallResult {
    const { method, params, caller, request } = call;
    const { board } = this.#options;
    if (method === "SubscribeToTask") {
      const { id } = params as { id: string };
      const { first, reader } = board.subscribe(id, caller, request.header("last-event-id"));
      return this.#reply(call, reader, first);
    }
    const { message, configuration } = SendMessageRequest.fromJSON(params);
    const task = board.send(message as Message, caller);
    const first = { id: task.log.position, task: withHistory(task.task, configuration?.historyLength) };
    const reader = task.log.subscribe();
    return this.#reply(call, reader, first);
  }

  #reply({ hold, request: { signal } }: Call, reader: EventReader, first: TaskStream["first"]): CallResult {
    const { clock, limits } = this.#options;
    return {
      kind: "stream",
      reply: ({ wrap, error }) =>
        sseReply({
          reader,
          ...(first !== undefined && { first: { id: first.id, told: toldOf(first.task) } }),
          wrap,
          lagged: error(LAGGED),
          room: { enter: (bytes) => hold.wait(bytes, signal), leave: () => hold.release() },
          heartbeatMs: limits.heartbeatMs,
          clock,
        }),
    };
  }
}

/** Each made when its turn comes: of a large task there are many. */
function toldOf(task: Task): FirstEvent[] {
  return taskEvents(task).map((event) => ({
    bytes: eventBytes(event),
    json: () => JSON.stringify(StreamResponse.toJSON(event)),
  }));
}

function failed(error: unknown): CallResult {
  if (error instanceof DoorBusyError) return { kind: "busy", message: error.message };
  return { kind: "error", error: told(JsonRpcTransportHandler.mapToJSONRPCError(error)) };
}

/** A failure of this program's own says nothing of itself. */
function told(error: CallError): CallError {
  return error.code === INTERNAL ? { code: INTERNAL, message: "Internal error" } : error;
}

/** Mostly one of 0.3, as `message/send`. */
function unknownMethod(method: string): CallError {
  const found = JSON.stringify(method.slice(0, 64));
  return {
    code: NO_METHOD,
    message: `Find a method: found ${found}, wanted one of A2A ${PROTOCOL_VERSION}, as SendMessage`,
  };
}

/** Patch numbers say nothing (§3.6); none at all is the wire of 0.3, which is another one. */
function checkVersion(asked = ""): void {
  const [, version = asked] = /^(\d+\.\d+)(?:\.\d+)?$/.exec(asked) ?? [];
  if (version === PROTOCOL_VERSION) return;
  const found = asked === "" ? "none, which is 0.3" : JSON.stringify(asked.slice(0, 32));
  throw new VersionNotSupportedError(`Read A2A-Version: found ${found}, wanted ${PROTOCOL_VERSION}`);
}
