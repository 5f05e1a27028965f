import type { Fields } from "../fields.ts";
import { LARGE_JSON, opaqueJson, opaqueObject, SMALL_JSON } from "./opaque_json.ts";
import { decodeTaskOutcome, type TaskOutcome } from "./task_outcome.ts";
import { KEY, NAME } from "./text_bounds.ts";
import {
  decodeErrorDetail,
  decodeTurnResult,
  decodeUsage,
  type ErrorDetail,
  type TurnResult,
  type Usage,
} from "./turn.ts";
import { decodeAt, tagOf, type UnknownMessage } from "./unknown_message.ts";

/** Which model endpoint answers: its place in the list, and how it is reached (one word; never a URL, host or credential). */
export interface ActiveEndpoint {
  readonly index: number;
  readonly transport: string;
}

/** Session to supervisor. Data from a process that may be talked into anything. */
export type AgentMsg =
  | { readonly type: "ready" }
  | { readonly type: "pong"; readonly seq: number }
  | { readonly type: "event"; readonly event: string; readonly fields: Readonly<Record<string, unknown>> }
  | ({ readonly type: "usage" } & Usage)
  | { readonly type: "turn"; readonly outcome: TaskOutcome }
  | { readonly type: "result"; readonly outcome: TaskOutcome }
  | { readonly type: "failed"; readonly error: ErrorDetail }
  | { readonly type: "gate"; readonly node: string; readonly payload: unknown }
  | { readonly type: "gate_closed"; readonly node: string; readonly via: "reply" | "uri" | "timeout" }
  | { readonly type: "intel_health"; readonly all_down: boolean; readonly active?: ActiveEndpoint }
  | {
    readonly type: "tool_request";
    readonly id: number;
    readonly name: string;
    readonly args: unknown;
    /** The same when the turn is replayed: what has been done under it is not done again. */
    readonly idempotency_key?: string;
  }
  | { readonly type: "budget_request"; readonly id: number; readonly estimate: number }
  | { readonly type: "turn_done"; readonly turn: TurnResult };

/** The last word of a session: one of them, once. */
export type TerminalMsg = Extract<AgentMsg, { type: "result" | "failed" | "turn_done" }>;

/** Whether nothing may follow the message. */
export function isTerminalMessage(message: AgentMsg | UnknownMessage): message is TerminalMsg {
  return message.type === "result" || message.type === "failed" || message.type === "turn_done";
}

/**
 * Decodes what a session said. `at` is the byte of the stream where the payload began
 * ({@link FrameDecoder.payloadOffset}), for the fault's text.
 *
 * @throws `protocol.bad_field` naming the field
 */
export function decodeAgent(message: unknown, at?: number): AgentMsg | UnknownMessage {
  return decodeAt(message, at, decodeFields);
}

function decodeFields(fields: Fields): AgentMsg | UnknownMessage {
  const type = tagOf(fields);
  switch (type) {
    case "ready":
      return { type };
    case "pong":
      return { type, seq: fields.integer("seq") };
    case "event":
      return { type, event: fields.string("event", NAME), fields: opaqueObject(fields, "fields", SMALL_JSON) };
    case "usage":
      return { type, ...decodeUsage(fields) };
    case "turn":
    case "result":
      return { type, outcome: decodeTaskOutcome(fields.object("outcome")) };
    case "failed":
      return { type, error: decodeErrorDetail(fields.object("error")) };
    case "gate":
      return { type, node: fields.string("node", NAME), payload: opaqueJson(fields, "payload", SMALL_JSON) };
    case "gate_closed":
      return {
        type,
        node: fields.string("node", NAME),
        via: fields.oneOf("via", ["reply", "uri", "timeout"] as const),
      };
    case "intel_health":
      return {
        type,
        all_down: fields.boolean("all_down"),
        ...fields.optional("active", (name) => decodeActive(fields.object(name))),
      };
    case "tool_request":
      return {
        type,
        id: fields.integer("id", { min: 1 }),
        name: fields.string("name", NAME),
        args: opaqueJson(fields, "args", LARGE_JSON),
        ...fields.optional("idempotency_key", (name) => fields.string(name, KEY)),
      };
    case "budget_request":
      return { type, id: fields.integer("id", { min: 1 }), estimate: fields.integer("estimate") };
    case "turn_done":
      return { type, turn: decodeTurnResult(fields.object("turn")) };
    default:
      return { type: "unknown", tag: type };
  }
}

function decodeActive(fields: Fields): ActiveEndpoint {
  const transport = fields.string("transport", { max: 32 });
  if (!/^[a-z][a-z0-9_-]*$/.test(transport)) fields.fail("transport", "one word");
  return { index: fields.integer("index"), transport };
}
