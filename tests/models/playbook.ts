/**
 * What a fake model reads and says: either wire's request as a transcript, a playbook's turn as either wire's events.
 * @module
 */
import type { PlaybookTurn } from "../../src/agent/model/mod.ts";
import type { Msg, ToolCall } from "../../src/protocol/control/mod.ts";
import type { Thought } from "./thinking.ts";

/** The wires that a model server speaks. */
export type ServedDialect = "openai" | "anthropic";

/** How a turn is told. */
export interface TellOptions {
  readonly model: string;
  /** Calls of the transcript so far: ids go on from there. */
  readonly callsBefore: number;
  /** Without a word of what it cost. */
  readonly withoutUsage?: boolean;
  /** Characters in one event, default 24: a few words, as a model says them. */
  readonly pieceLength?: number;
  /** What it thinks meanwhile. */
  readonly thought?: Thought;
}

/** A request that no provider would take. */
export class BadRequest extends Error {}

type Json = Record<string, unknown>;

/** The transcript of a request, checked as a provider does: the system first, every call answered before anything else. */
export function readTranscript(dialect: ServedDialect, body: unknown): Msg[] {
  const { messages, stream } = isObject(body) ? body : {};
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new BadRequest("messages: at least one message is required");
  }
  if (stream !== true) throw new BadRequest("stream: this server only streams");
  const read = dialect === "openai" ? messages.flatMap(readOpenAi) : messages.flatMap(readAnthropic);
  checkAnswers(read);
  return read;
}

function readOpenAi(message: Json, i: number): Msg[] {
  const text = textOf(message.content);
  switch (message.role) {
    case "system":
    case "developer":
      if (i > 0) throw new BadRequest(`messages[${i}]: the system's word comes first`);
      return [{ role: "system", text, ts: 0 }];
    case "user":
      return [{ role: "user", text, ts: 0 }];
    case "tool":
      return [{ role: "tool", id: String(message.tool_call_id), name: "", content: text, is_error: false, ts: 0 }];
    case "assistant": {
      const calls = (message.tool_calls ?? []) as { id: string; function: { name: string; arguments: string } }[];
      const read = calls.map(({ id, function: { name, arguments: written } }): ToolCall => {
        const value = parse(written);
        if (!isObject(value)) throw new BadRequest(`messages[${i}].tool_calls: arguments are no JSON object`);
        return { id, name, arguments: value };
      });
      return [{ role: "assistant", text, tool_calls: read, ts: 0 }];
    }
    default:
      throw new BadRequest(`messages[${i}].role: not known`);
  }
}

function readAnthropic(message: Json, i: number): Msg[] {
  const blocks: Json[] = typeof message.content === "string"
    ? [{ type: "text", text: message.content }]
    : message.content as Json[];
  if (blocks.some(({ type, text }) => type === "text" && text === "")) {
    throw new BadRequest(`messages.${i}: text content blocks must be non-empty`);
  }
  if (message.role === "assistant") {
    const calls = blocks.filter(({ type }) => type === "tool_use").map(({ id, name, input }): ToolCall => {
      if (!isObject(input)) throw new BadRequest(`messages.${i}: input: Input should be a valid dictionary`);
      return { id: String(id), name: String(name), arguments: input };
    });
    return [{ role: "assistant", text: textOf(blocks), tool_calls: calls, ts: 0 }];
  }
  if (message.role !== "user") throw new BadRequest(`messages.${i}.role: not known`);
  return blocks.map((block): Msg =>
    block.type === "tool_result"
      ? {
        ...{ role: "tool", id: String(block.tool_use_id), name: "", ts: 0 },
        ...{ content: textOf(block.content), is_error: block.is_error === true },
      }
      : { role: "user", text: String(block.text), ts: 0 }
  );
}

function checkAnswers(messages: readonly Msg[]): void {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      if (!open.includes(message.id)) throw new BadRequest("a tool's answer has no call before it");
      open = open.toSpliced(open.indexOf(message.id), 1);
    } else if (open.length > 0) throw new BadRequest("a call has no answer directly behind it");
    if (message.role === "assistant") open = message.tool_calls.map(({ id }) => id);
  }
  if (open.length > 0) throw new BadRequest("a call has no answer directly behind it");
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part) => String(part?.text ?? "")).join("") : "";
}

/** The events of one answer, in order: what follows `data: `, with its name where the wire has names. */
export function eventsOf(dialect: ServedDialect, turn: PlaybookTurn, options: TellOptions): string[] {
  return dialect === "openai" ? openAiEvents(turn, options) : anthropicEvents(turn, options);
}

function openAiEvents(
  { text, tool_calls, usage }: PlaybookTurn,
  { model, callsBefore, withoutUsage, pieceLength, thought }: TellOptions,
): string[] {
  const chunk = (more: Json) => ({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model, ...more });
  const delta = (value: Json, finish: string | null = null) =>
    chunk({ choices: [{ index: 0, delta: value, finish_reason: finish }] });
  const calls = tool_calls.flatMap(({ name, arguments: written }, index) => {
    const [first, second] = halves(argumentsText(written));
    const id = `call_${callsBefore + index + 1}`;
    const signed = thought === undefined || index > 0
      ? {}
      : { extra_content: { google: { thought_signature: thought.signature } } };
    return [
      delta({ tool_calls: [{ index, id, type: "function", function: { name, arguments: first }, ...signed }] }),
      delta({ tool_calls: [{ index, function: { arguments: second } }] }),
    ];
  });
  const { input_tokens = 0, output_tokens = 0 } = usage ?? {};
  const counted = {
    prompt_tokens: input_tokens,
    completion_tokens: output_tokens,
    total_tokens: input_tokens + output_tokens,
  };
  const events = [
    delta({ role: "assistant", content: "" }),
    ...piecesOf(thought?.text, pieceLength).map((piece) => delta({ [thought!.field]: piece })),
    ...piecesOf(text, pieceLength).map((content) => delta({ content })),
    ...calls,
    delta({}, calls.length > 0 ? "tool_calls" : "stop"),
    ...(withoutUsage || usage === undefined ? [] : [chunk({ choices: [], usage: counted })]),
  ];
  return [...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), "data: [DONE]\n\n"];
}

function anthropicEvents(
  { text, tool_calls, usage }: PlaybookTurn,
  { model, callsBefore, withoutUsage, pieceLength, thought }: TellOptions,
): string[] {
  const isCounted = !withoutUsage && usage !== undefined;
  const message = { id: "msg_1", type: "message", role: "assistant", model, content: [], stop_reason: null };
  const [first, ...rest] = (thought?.blocks ?? []).map((block) => thoughtBlock(block, pieceLength));
  const blocks: { start: Json; deltas: Json[] }[] = [
    ...(first === undefined ? [] : [first]),
    ...(text
      ? [{
        start: { type: "text", text: "" },
        deltas: piecesOf(text, pieceLength).map((text) => ({ type: "text_delta", text })),
      }]
      : []),
    ...rest,
    ...tool_calls.map(({ name, arguments: written }, i) => ({
      start: { type: "tool_use", id: `call_${callsBefore + i + 1}`, name, input: {} },
      deltas: halves(argumentsText(written)).map((partial_json) => ({ type: "input_json_delta", partial_json })),
    })),
  ];
  const events: Json[] = [
    {
      type: "message_start",
      message: { ...message, ...(isCounted ? { usage: { input_tokens: usage.input_tokens, output_tokens: 1 } } : {}) },
    },
    { type: "ping" },
    ...blocks.flatMap(({ start, deltas }, index) => [
      { type: "content_block_start", index, content_block: start },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
    {
      type: "message_delta",
      delta: { stop_reason: tool_calls.length > 0 ? "tool_use" : "end_turn", stop_sequence: null },
      ...(isCounted ? { usage: { output_tokens: usage.output_tokens } } : {}),
    },
    { type: "message_stop" },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

function thoughtBlock(block: Json, pieceLength: number | undefined): { start: Json; deltas: Json[] } {
  if (block.type === "redacted_thinking") return { start: block, deltas: [] };
  const pieces = piecesOf(String(block.thinking), pieceLength);
  return {
    start: { type: "thinking", thinking: "", signature: "" },
    deltas: [
      ...pieces.map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature: block.signature },
    ],
  };
}

function piecesOf(text = "", length = 24): string[] {
  const characters = Array.from(text);
  const count = Math.ceil(characters.length / length);
  return Array.from({ length: count }, (_, i) => characters.slice(i * length, (i + 1) * length).join(""));
}

function halves(text: string): [string, string] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

function argumentsText(written: PlaybookTurn["tool_calls"][number]["arguments"]): string {
  return typeof written === "string" ? written : JSON.stringify(written);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
