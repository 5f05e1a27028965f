import type { Fields } from "../fields.ts";
import { decodeHeaders, decodeIntelligence, type Intelligence } from "./intelligence.ts";
import { opaqueJson } from "./opaque_json.ts";
import { decodeSpawnPayload, type SpawnPayload } from "./spawn_payload.ts";
import { NAME, TEXT } from "./text_bounds.ts";
import { decodeAt, tagOf, type UnknownMessage } from "./unknown_message.ts";

/** The reason of a `cancel` whose time is over: what is ended by it was no choice of anybody's, and says so. */
export const REASON_DEADLINE = "the deadline passed";

/** The reason of a `cancel` that closes a warm session between two turns: its last one is what it came to. */
export const REASON_CLOSED = "the session is closed";

/** The longest a child is told to wait for its budget. */
export const MAX_BUDGET_WAIT_MS = 60_000;

/** Another model endpoint from the next turn boundary on. Holds a credential. */
export interface SwapIntel extends Omit<Intelligence, "headers"> {
  readonly type: "swap_intel";
  readonly headers?: Intelligence["headers"];
  /** Absent on the wire is `finish-on-old`. */
  readonly policy: "finish-on-old" | "restart-turn";
}

/** The answer to a `tool_request`. */
export interface ToolAnswer {
  readonly type: "tool_result";
  readonly id: number;
  readonly result: unknown;
  readonly is_error: boolean;
}

/** The answer to a `budget_request`: yes (perhaps on another model), yes later, or no. */
export interface BudgetGrant {
  readonly type: "budget_grant";
  readonly id: number;
  readonly ok: boolean;
  readonly wait_ms: number;
  readonly model?: string;
  readonly reason?: string;
}

/** Supervisor to session. */
export type ControlMsg =
  | ({ readonly type: "spawn" } & SpawnPayload)
  | { readonly type: "ping"; readonly seq: number }
  | { readonly type: "pause" }
  | { readonly type: "resume" }
  | { readonly type: "cancel"; readonly reason: string }
  /** Ends the turn that runs in a warm session, which then waits for the next one. */
  | { readonly type: "cancel_turn" }
  | { readonly type: "inject"; readonly message: string; readonly node?: string }
  | SwapIntel
  | ToolAnswer
  | BudgetGrant;

/**
 * Decodes what a supervisor said. `at` is the byte of the stream where the payload began
 * ({@link FrameDecoder.payloadOffset}), for the fault's text.
 *
 * @throws `protocol.bad_field` naming the field
 */
export function decodeControl(message: unknown, at?: number): ControlMsg | UnknownMessage {
  return decodeAt(message, at, decodeFields);
}

function decodeFields(fields: Fields): ControlMsg | UnknownMessage {
  const type = tagOf(fields);
  switch (type) {
    case "spawn":
      return { type, ...decodeSpawnPayload(fields) };
    case "ping":
      return { type, seq: fields.integer("seq") };
    case "pause":
    case "resume":
    case "cancel_turn":
      return { type };
    case "cancel":
      return { type, reason: fields.string("reason") };
    case "inject":
      return {
        type,
        message: fields.string("message", TEXT),
        ...fields.optional("node", (name) => fields.string(name, NAME)),
      };
    case "swap_intel":
      return decodeSwap(fields);
    case "tool_result":
      return {
        type,
        id: fields.integer("id", { min: 1 }),
        result: opaqueJson(fields, "result", { maxBytes: TEXT.max }),
        is_error: fields.boolean("is_error"),
      };
    case "budget_grant":
      return {
        type,
        id: fields.integer("id", { min: 1 }),
        ok: fields.boolean("ok"),
        wait_ms: fields.integer("wait_ms", { max: MAX_BUDGET_WAIT_MS }),
        ...fields.optional("model", (name) => fields.string(name, NAME)),
        ...fields.optional("reason", (name) => fields.string(name)),
      };
    default:
      return { type: "unknown", tag: type };
  }
}

function decodeSwap(fields: Fields): SwapIntel {
  const { headers: _, ...intelligence } = decodeIntelligence(fields);
  return {
    type: "swap_intel",
    ...intelligence,
    ...fields.optional("headers", () => decodeHeaders(fields)),
    policy: fields.orElse(
      "policy",
      "finish-on-old",
      (name) => fields.oneOf(name, ["finish-on-old", "restart-turn"] as const),
    ),
  };
}
