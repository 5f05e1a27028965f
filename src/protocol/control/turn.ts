import { SESSION_STATUSES, type SessionStatus } from "../../base/mod.ts";
import { Fields, pairItem, textItem } from "../fields.ts";
import { type JsonSchema, jsonSchema, LARGE_JSON, opaqueJson, opaqueObject } from "./opaque_json.ts";
import { LINE, NAME, TEXT } from "./text_bounds.ts";

/** What a model round, or several of them, cost. */
export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** One call that the model asks for. `arguments` is what it wrote: an object, or a text when that was not JSON. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

/** A tool as the model is told of it. */
export interface ToolDef {
  readonly name: string;
  readonly description?: string;
  readonly input_schema: JsonSchema;
}

/** What a model thought on the way to its calls. It goes back to that model as it came, and nobody else reads it. */
export interface Reasoning {
  /** Whose it is: the dialect and the model's name. */
  readonly model: string;
  /** What it is: only its model's wire takes it apart. */
  readonly kept: string;
}

/** One message of a transcript; `ts` is milliseconds since the epoch. */
export type Msg =
  | { readonly role: "system"; readonly text: string; readonly ts: number }
  | { readonly role: "user"; readonly text: string; readonly principal?: string; readonly ts: number }
  | {
    readonly role: "assistant";
    readonly text?: string;
    readonly tool_calls: readonly ToolCall[];
    readonly reasoning?: Reasoning;
    readonly ts: number;
  }
  | {
    readonly role: "tool";
    readonly id: string;
    readonly name: string;
    readonly content: string;
    readonly is_error: boolean;
    readonly ts: number;
  }
  | { readonly role: "note"; readonly text: string; readonly ts: number };

/** One turn for a session of the role `turn`. */
export interface TurnSpec {
  /** `think` has no tools and gives JSON. */
  readonly kind: "turn" | "think" | "agent";
  readonly system: string;
  readonly messages: readonly Msg[];
  readonly tools: readonly ToolDef[];
  /** Names of tools that round-trip to the parent. */
  readonly internal: readonly string[];
  /** Name of a tool → its server, and its name there. */
  readonly mcp_routes: Readonly<Record<string, readonly [server: string, tool: string]>>;
  readonly output_schema?: JsonSchema;
  /** 0 is `limits.max_steps`. */
  readonly max_rounds: number;
  /** Ask before each round. */
  readonly budget_admission: boolean;
  /** `<ctx>/<turn>`: the key of every effect, the same when the turn is replayed. */
  readonly idempotency_prefix: string;
  readonly tool_meta?: Readonly<Record<string, unknown>>;
  readonly temperature?: number;
  /** 0 is 4096. */
  readonly max_tokens_per_call: number;
  readonly turn_id: string;
}

/** A failure as a child tells it. */
export interface ErrorDetail {
  readonly code: string;
  readonly message: string;
}

/** What a turn's `finish` call said; `exit` ends the session with the turn. */
export interface Finish {
  readonly status: SessionStatus;
  readonly output: unknown;
  readonly reason: string;
  readonly exit: boolean;
}

/** What became of one turn. */
export interface TurnResult {
  readonly status: SessionStatus;
  /** What this turn added to the transcript. */
  readonly messages: readonly Msg[];
  readonly text?: string;
  readonly value?: unknown;
  readonly usage: Usage;
  readonly rounds: number;
  readonly tool_calls: number;
  readonly error?: ErrorDetail;
  readonly finish?: Finish;
}

/** @throws `protocol.bad_field` */
export function decodeTurnSpec(fields: Fields): TurnSpec {
  return {
    kind: fields.orElse("kind", "turn", (name) => fields.oneOf(name, ["turn", "think", "agent"] as const)),
    system: fields.string("system", TEXT),
    messages: fields.orElse("messages", [], (name) => fields.list(name, msgItem)),
    tools: fields.orElse("tools", [], (name) => fields.list(name, toolDefItem, { max: 4_096 })),
    internal: fields.orElse("internal", [], (name) => fields.list(name, textItem, { max: 4_096 })),
    mcp_routes: fields.orElse("mcp_routes", {}, (name) => decodeRoutes(fields, name)),
    ...fields.optional("output_schema", (name) => jsonSchema(fields, name)),
    max_rounds: fields.orElse("max_rounds", 0, (name) => fields.integer(name)),
    budget_admission: fields.orElse("budget_admission", false, (name) => fields.boolean(name)),
    idempotency_prefix: fields.orElse("idempotency_prefix", "", (name) => fields.string(name, LINE)),
    ...fields.optional("tool_meta", (name) => opaqueObject(fields, name, LARGE_JSON)),
    ...fields.optional("temperature", (name) => decodeTemperature(fields, name)),
    max_tokens_per_call: fields.orElse("max_tokens_per_call", 0, (name) => fields.integer(name)),
    turn_id: fields.orElse("turn_id", "", (name) => fields.string(name, NAME)),
  };
}

/** @throws `protocol.bad_field` */
export function decodeTurnResult(fields: Fields): TurnResult {
  return {
    status: fields.oneOf("status", SESSION_STATUSES),
    messages: fields.orElse("messages", [], (name) => fields.list(name, msgItem)),
    ...fields.optional("text", (name) => fields.string(name, TEXT)),
    ...fields.optional("value", (name) => opaqueJson(fields, name, { maxBytes: TEXT.max })),
    usage: fields.orElse("usage", { input_tokens: 0, output_tokens: 0 }, (name) => decodeUsage(fields.object(name))),
    rounds: fields.orElse("rounds", 0, (name) => fields.integer(name)),
    tool_calls: fields.orElse("tool_calls", 0, (name) => fields.integer(name)),
    ...fields.optional("error", (name) => decodeErrorDetail(fields.object(name))),
    ...fields.optional("finish", (name) => decodeFinish(fields.object(name))),
  };
}

/** Each count defaults to 0. @throws `protocol.bad_field` */
export function decodeUsage(fields: Fields): Usage {
  return {
    input_tokens: fields.orElse("input_tokens", 0, (name) => fields.integer(name)),
    output_tokens: fields.orElse("output_tokens", 0, (name) => fields.integer(name)),
  };
}

/** @throws `protocol.bad_field` */
export function decodeErrorDetail(fields: Fields): ErrorDetail {
  return { code: fields.string("code", NAME), message: fields.string("message") };
}

function decodeFinish(fields: Fields): Finish {
  return {
    status: fields.oneOf("status", SESSION_STATUSES),
    output: fields.orElse<unknown>("output", null, (name) => opaqueJson(fields, name, { maxBytes: TEXT.max })),
    reason: fields.orElse("reason", "", (name) => fields.string(name)),
    exit: fields.orElse("exit", false, (name) => fields.boolean(name)),
  };
}

function msgItem(item: unknown, path: string): Msg {
  const fields = new Fields(item, path);
  const ts = fields.integer("ts");
  const role = fields.oneOf("role", ["system", "user", "assistant", "tool", "note"] as const);
  switch (role) {
    case "system":
    case "note":
      return { role, text: fields.string("text", TEXT), ts };
    case "user":
      return {
        role,
        text: fields.string("text", TEXT),
        ...fields.optional("principal", (name) => fields.string(name, LINE)),
        ts,
      };
    case "assistant":
      return {
        role,
        ...fields.optional("text", (name) => fields.string(name, TEXT)),
        tool_calls: fields.orElse("tool_calls", [], (name) => fields.list(name, toolCallItem, { max: 4_096 })),
        ...fields.optional("reasoning", (name) => decodeReasoning(fields.object(name))),
        ts,
      };
    case "tool":
      return {
        role,
        id: fields.string("id", NAME),
        name: fields.string("name", NAME),
        content: fields.string("content", TEXT),
        is_error: fields.boolean("is_error"),
        ts,
      };
  }
}

function decodeReasoning(fields: Fields): Reasoning {
  return { model: fields.string("model", LINE), kept: fields.string("kept", TEXT) };
}

function toolCallItem(item: unknown, path: string): ToolCall {
  const fields = new Fields(item, path);
  return {
    id: fields.string("id", NAME),
    name: fields.string("name", NAME),
    arguments: opaqueJson(fields, "arguments", LARGE_JSON),
  };
}

function toolDefItem(item: unknown, path: string): ToolDef {
  const fields = new Fields(item, path);
  return {
    name: fields.string("name", NAME),
    ...fields.optional("description", (name) => fields.string(name)),
    input_schema: jsonSchema(fields, "input_schema"),
  };
}

function decodeRoutes(fields: Fields, name: string): Record<string, [string, string]> {
  const routes = opaqueObject(fields, name, LARGE_JSON);
  const path = fields.pathOf(name);
  return Object.fromEntries(Object.entries(routes).map(([tool, route], i) => [tool, pairItem(route, `${path}[${i}]`)]));
}

function decodeTemperature(fields: Fields, name: string): number {
  const value = fields.raw(name);
  if (typeof value !== "number" || !(value >= 0 && value <= 100)) fields.fail(name, "a number from 0 to 100");
  return value;
}
