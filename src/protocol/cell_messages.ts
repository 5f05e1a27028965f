import { CapsuleError } from "../base/mod.ts";
import {
  decodeDelegateCall,
  decodeDelegationEnd,
  decodeDelegationId,
  decodeRefusal,
  type DelegateCall,
  type DelegateRefusal,
  type DelegateStarted,
  type DelegationEnd,
} from "./delegation_messages.ts";
import { Fields, textItem } from "./fields.ts";
import {
  type CallError,
  decodeCallError,
  decodeChunk,
  decodeCredit,
  decodeHead,
  decodeHttpCall,
  decodeLog,
  type FromServingCell,
  type ToServingCell,
} from "./http_messages.ts";

import { type BuildLoad, decodeLoad, type RunLoad, type ServeLoad, type ToolsLoad } from "./cell_load.ts";
import {
  decodeToolCall,
  decodeToolHostCall,
  type InputGiven,
  MAX_QUESTION,
  TOOL_HOST_CALLS,
  type ToolCallMessage,
  type ToolHostCall,
} from "./tool_messages.ts";

/** Parent to cell. */
export type ToCell =
  | RunLoad
  | ServeLoad
  | ToolsLoad
  | BuildLoad
  | ToServingCell
  | ToolCallMessage
  | { readonly type: "call"; readonly id: number; readonly export: string }
  | ({ readonly type: "host_result" } & HostResult)
  | DelegationEnd
  | { readonly type: "ping"; readonly seq: number };

/** What a guest's host asks of the parent, by number. */
export type HostCall = ResolveCall | HostDelegateCall | ({ readonly id: number } & ToolHostCall);

/** The addresses of a granted name. The parent asks its gate, which knows the grants itself. */
export interface ResolveCall {
  readonly id: number;
  readonly name: "resolve";
  readonly args: { readonly name: string };
}

/** A child capsule, to be started. Its end comes by itself, as `delegation_end`. */
export interface HostDelegateCall {
  readonly id: number;
  readonly name: "delegate";
  readonly args: DelegateCall;
  /** Of a tool: the call that it works on. */
  readonly call?: number;
}

/** The answer to the call of that number. */
export type HostResult =
  | ({ readonly id: number } & ResolveAnswer)
  | ({ readonly id: number } & DelegateAnswer)
  | ({ readonly id: number } & RequestedInput);

/** Addresses (64 at most), or the gate's word for why there are none. */
export type ResolveAnswer =
  | { readonly value: { readonly addresses: readonly string[] } }
  | { readonly error: string };

/** A child was started, or why not. */
export type DelegateAnswer = { readonly value: DelegateStarted } | { readonly error: DelegateRefusal };

/** A person answered, or why not. */
export type RequestedInput = { readonly value: InputGiven } | { readonly error: DelegateRefusal };

/** How a cell's guest ended. */
export type GuestEnding =
  | { readonly kind: "exit"; readonly code: number }
  | { readonly kind: "limit"; readonly limit: "output" }
  | { readonly kind: "trap"; readonly trap: string; readonly detail: string };

/** What a run has used so far. */
export interface CellUsage {
  /** How full the fullest linear memory is, percent of its cap (0-100). */
  readonly memory_percent: number;
  readonly bytes_written: number;
  readonly output_bytes: number;
  readonly stdout_closed: boolean;
}

/** Cell to parent. All of it is data from an enemy. */
export type FromCell =
  | { readonly type: "hello"; readonly nonce: string }
  | { readonly type: "ready"; readonly walls: CellWalls }
  | {
    readonly type: "denied";
    readonly wall: number;
    readonly grant: string;
    readonly asked: string;
    readonly allow: string;
  }
  | ({ readonly type: "usage" } & CellUsage)
  | { readonly type: "pong"; readonly seq: number }
  /** Of tools: the guests' thread is that call's from now on; 0: nobody's. */
  | { readonly type: "running"; readonly id: number }
  | ({ readonly type: "host_call" } & HostCall)
  | { readonly type: "done"; readonly id: number; readonly value: unknown; readonly error?: CallError }
  | FromServingCell
  | { readonly type: "failed"; readonly code: string; readonly message: string }
  | ({ readonly type: "ended" } & GuestEnding);

/** What the cell raised before the guest existed. */
export interface CellWalls {
  readonly landlock: boolean;
  readonly seccomp: boolean;
  readonly abi: number;
  /** The guest has a thread of its own with narrowed lists (else: this thread, everything revoked). */
  readonly worker: boolean;
}

const TRAP_DETAIL = { max: 4_096 };
/** The longest name of a host that can be asked for, characters. */
const MAX_HOST_NAME = 255;
const MAX_ADDRESSES = { max: 64 };

/**
 * Decodes what a cell said. An unknown `type` is undefined, to be counted by the caller.
 *
 * @throws `protocol.bad_field` naming the field.
 */
export function decodeFromCell(message: Record<string, unknown>): FromCell | undefined {
  const fields = new Fields(message, "message");
  const type = fields.string("type", { max: 64 });
  switch (type) {
    case "hello":
      return { type, nonce: fields.string("nonce", { max: 128 }) };
    case "ready":
      return { type, walls: decodeWalls(fields.object("walls")) };
    case "denied":
      return {
        type,
        wall: fields.integer("wall"),
        grant: fields.string("grant", { max: 64 }),
        asked: fields.string("asked", { max: 8_192 }),
        allow: fields.string("allow", { max: 8_192 }),
      };
    case "usage":
      return { type, ...decodeUsage(fields) };
    case "pong":
      return { type, seq: fields.integer("seq") };
    case "running":
      return { type, id: fields.integer("id") };
    case "host_call": {
      const name = fields.oneOf("name", ["resolve", "delegate", ...TOOL_HOST_CALLS] as const);
      const [id, args] = [fields.integer("id"), fields.object("args")];
      if (name === "delegate") {
        return {
          type,
          id,
          name,
          args: decodeDelegateCall(args),
          ...fields.optional("call", (call) => fields.integer(call)),
        };
      }
      if (name !== "resolve") return { type, id, ...decodeToolHostCall(name, args) };
      return { type, id, name, args: { name: args.string("name", { max: MAX_HOST_NAME }) } };
    }
    case "done":
      return {
        type,
        id: fields.integer("id"),
        value: fields.raw("value"),
        ...fields.optional("error", (name) => decodeCallError(fields.object(name))),
      };
    case "head":
      return decodeHead(fields);
    case "chunk":
      return decodeChunk(fields);
    case "credit":
      return decodeCredit(fields);
    case "log":
      return decodeLog(fields);
    case "failed":
      return { type, code: fields.string("code", { max: 64 }), message: fields.string("message", { max: 65_536 }) };
    case "ended":
      return { type, ...decodeEnding(fields) };
    default:
      return undefined;
  }
}

function decodeWalls(fields: Fields): CellWalls {
  return {
    landlock: fields.boolean("landlock"),
    seccomp: fields.boolean("seccomp"),
    abi: fields.integer("abi"),
    worker: fields.boolean("worker"),
  };
}

function decodeUsage(fields: Fields): CellUsage {
  return {
    memory_percent: fields.integer("memory_percent"),
    bytes_written: fields.integer("bytes_written"),
    output_bytes: fields.integer("output_bytes"),
    stdout_closed: fields.boolean("stdout_closed"),
  };
}

function decodeEnding(fields: Fields): GuestEnding {
  const kind = fields.oneOf("kind", ["exit", "limit", "trap"]);
  switch (kind) {
    case "exit": {
      const code = fields.integer("code");
      if (code > 255) throw new CapsuleError("protocol.bad_field", "Read a message: message.code is not 0 to 255");
      return { kind, code };
    }
    case "limit":
      return { kind, limit: fields.oneOf("limit", ["output"]) };
    case "trap":
      return { kind, trap: fields.string("trap", { max: 64 }), detail: fields.string("detail", TRAP_DETAIL) };
  }
}

/**
 * Decodes what the parent said. Its first message is the cell's whole authority, so that a field that is missing or of
 * another kind ends the cell; grants travel as the parent resolved them.
 *
 * @throws `protocol.bad_field` naming the field; `protocol.unexpected` for an unknown `type`.
 */
export function decodeToCell(message: Record<string, unknown>): ToCell {
  const fields = new Fields(message, "message");
  const type = fields.string("type", { max: 64 });
  switch (type) {
    case "load":
      return decodeLoad(fields);
    case "call":
      if (fields.has("request")) return decodeHttpCall(fields);
      if (fields.has("tool")) return decodeToolCall(fields);
      return { type, id: fields.integer("id"), export: fields.string("export", { max: 256 }) };
    case "chunk":
      return decodeChunk(fields);
    case "credit":
      return decodeCredit(fields);
    case "cancel":
      return { type, id: fields.integer("id") };
    case "host_result":
      return { type, ...decodeHostResult(fields) };
    case "delegation_end":
      return decodeDelegationEnd(fields);
    case "ping":
      return { type, seq: fields.integer("seq") };
    default:
      throw new CapsuleError("protocol.unexpected", "Read a message: message.type is none that a cell knows");
  }
}

function decodeHostResult(fields: Fields): HostResult {
  const id = fields.integer("id");
  if (fields.has("error")) {
    if (typeof fields.raw("error") === "string") return { id, error: fields.string("error", { max: 64 }) };
    return { id, error: decodeRefusal(fields.object("error")) };
  }
  const value = fields.object("value");
  if (value.has("delegation_id")) return { id, value: { delegation_id: decodeDelegationId(value) } };
  if (value.has("input")) return { id, value: { input: value.string("input", { max: MAX_QUESTION }) } };
  return { id, value: { addresses: value.list("addresses", textItem, MAX_ADDRESSES) } };
}
