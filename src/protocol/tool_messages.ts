import { Fields } from "./fields.ts";

/** The longest input of a call and the longest answer, bytes of UTF-8. */
export const MAX_TOOL_TEXT_BYTES = 4 * 1024 * 1024;
/** The longest JSON Schema that a tool may describe its input by, characters. */
export const MAX_TOOL_SCHEMA = 64 * 1024;
/** The longest name and the longest description that are read of a tool, characters. */
export const MAX_TOOL_NAME = 64;
export const MAX_TOOL_DESCRIPTION = 16 * 1024;
/** The longest line or word that a tool says beside its answer, characters. */
export const MAX_TOOL_WORD = 8_192;
/** The longest question to a person, and the longest answer, characters. */
export const MAX_QUESTION = 16 * 1024;

/** The longest tool text as base64, characters. */
const MAX_ENCODED = Math.ceil(MAX_TOOL_TEXT_BYTES / 3) * 4;

/** One call of a tool: with `input` of `invoke`, without it of `describe`. Texts are base64: as JSON they may grow sixfold. */
export interface ToolCallMessage {
  readonly type: "call";
  readonly id: number;
  readonly tool: string;
  /** Of UTF-8; see {@link encodeToolText}. */
  readonly input?: string;
}

/** What a tool says of itself: foreign text, within bounds. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** JSON Schema as text. */
  readonly input_schema: string;
  readonly mutates: boolean;
}

/** What a tool answered. */
export interface ToolAnswer {
  readonly ok: boolean;
  readonly text: string;
}

/** What a tool's host asks for beside children; `call` is the number of the call that it works on. */
export type ToolHostCall =
  | {
    readonly name: "log";
    readonly args: { readonly call: number; readonly level: ToolLogLevel; readonly text: string };
  }
  | { readonly name: "emit"; readonly args: { readonly call: number; readonly text: string } }
  | { readonly name: "request-input"; readonly args: { readonly call: number; readonly question: string } };

export type ToolLogLevel = "debug" | "info" | "warn" | "error";

/** The calls of {@link ToolHostCall}. Of these only `request-input` is answered. */
export const TOOL_HOST_CALLS = ["log", "emit", "request-input"] as const;

/** What a person answered. */
export interface InputGiven {
  readonly input: string;
}

/** Decodes `call` with a `tool`. @throws `protocol.bad_field` */
export function decodeToolCall(fields: Fields): ToolCallMessage {
  return {
    type: "call",
    id: fields.integer("id"),
    tool: fields.string("tool", { max: MAX_TOOL_NAME }),
    ...fields.optional("input", (name) => fields.string(name, { max: MAX_ENCODED })),
  };
}

/** @throws `protocol.bad_field` */
export function decodeToolHostCall(name: ToolHostCall["name"], args: Fields): ToolHostCall {
  const call = args.integer("call");
  switch (name) {
    case "log":
      return {
        name,
        args: {
          call,
          level: args.oneOf("level", ["debug", "info", "warn", "error"] as const),
          text: args.string("text", { max: MAX_TOOL_WORD }),
        },
      };
    case "emit":
      return { name, args: { call, text: args.string("text", { max: MAX_TOOL_WORD }) } };
    case "request-input":
      return { name, args: { call, question: args.string("question", { max: MAX_QUESTION }) } };
  }
}

/** What a cell says that a tool said of itself. @throws `protocol.bad_field` */
export function decodeToolDescription(value: unknown): ToolDescription {
  const fields = new Fields(value, "message.value");
  return {
    name: fields.string("name", { max: MAX_TOOL_NAME }),
    description: fields.string("description", { max: MAX_TOOL_DESCRIPTION }),
    input_schema: fields.string("input_schema", { max: MAX_TOOL_SCHEMA }),
    mutates: fields.boolean("mutates"),
  };
}

/** What a cell says that a tool answered. @throws `protocol.bad_field` */
export function decodeToolAnswer(value: unknown): ToolAnswer {
  const fields = new Fields(value, "message.value");
  const text = decodeToolText(fields.string("text", { max: MAX_ENCODED }));
  return text === undefined ? fields.fail("text", "base64 of UTF-8") : { ok: fields.boolean("ok"), text };
}

/** A text as it travels; undefined when it is longer than {@link MAX_TOOL_TEXT_BYTES}. */
export function encodeToolText(text: string): string | undefined {
  // Never fewer bytes than UTF-16 units: what is far too long is not encoded first.
  if (text.length > MAX_TOOL_TEXT_BYTES) return undefined;
  const bytes = new TextEncoder().encode(text);
  return bytes.length > MAX_TOOL_TEXT_BYTES ? undefined : bytes.toBase64();
}

/** The text that travelled; undefined when it is none. */
export function decodeToolText(encoded: string): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.fromBase64(encoded));
  } catch {
    return undefined;
  }
}
