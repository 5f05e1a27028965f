/**
 * How a fake model thinks before it calls a tool, and that it takes no call back without what it thought: as Anthropic's
 * does with thinking blocks, DeepSeek's with `reasoning_content`, Groq's with `reasoning`, Gemini's with the signatures
 * beside calls.
 * @module
 */
import { BadRequest, type ServedDialect } from "./playbook.ts";

type Json = Record<string, unknown>;

/** How a server thinks: over Anthropic's wire in blocks, whatever stands here; over OpenAI's in this field. */
export const THINKING = ["reasoning_content", "reasoning"] as const;
export type Thinking = typeof THINKING[number];

/** The thoughts of one answer. */
export interface Thought {
  /** Anthropic's blocks: before the text, and before the calls. */
  readonly blocks: readonly [Json, Json, Json];
  readonly field: Thinking;
  readonly text: string;
  readonly signature: string;
}

/** The thoughts that lead to a call of that id: the same whenever they are asked for. */
export function thoughtBefore(callId: string, field: Thinking): Thought {
  return {
    blocks: [
      { type: "thinking", thinking: `secretly I think of ${callId}`, signature: `signed ${callId}` },
      { type: "redacted_thinking", data: `hidden ${callId}` },
      { type: "thinking", thinking: "", signature: `omitted ${callId}` },
    ],
    field,
    text: `secretly I think of ${callId}`,
    signature: `beside ${callId}`,
  };
}

/** Refuses a request in which a call has not exactly the thoughts that led to it. @throws {BadRequest} */
export function checkThoughts(dialect: ServedDialect, body: unknown, field: Thinking): void {
  const { messages } = body as { messages: Json[] };
  for (const [i, message] of messages.entries()) {
    if (message.role !== "assistant") continue;
    const wrong = dialect === "anthropic" ? anthropicFault(message, field) : openAiFault(message, field);
    if (wrong !== undefined) throw new BadRequest(`messages.${i}: ${wrong}`);
  }
}

function anthropicFault({ content }: Json, field: Thinking): string | undefined {
  const blocks = content as Json[];
  const call = blocks.find(({ type }) => type === "tool_use");
  const found = blocks.filter(({ type }) => type === "thinking" || type === "redacted_thinking");
  if (call === undefined) return found.length > 0 ? "thinking without a call was kept" : undefined;
  const [first, ...rest] = thoughtBefore(String(call.id), field).blocks;
  const text = blocks.filter(({ type }) => type === "text");
  const calls = blocks.filter(({ type }) => type === "tool_use");
  const wanted = [first, ...text, ...rest, ...calls];
  return JSON.stringify(blocks) === JSON.stringify(wanted)
    ? undefined
    : "Expected `thinking` or `redacted_thinking`, as they came and where they stood";
}

function openAiFault(message: Json, field: Thinking): string | undefined {
  const calls = (message.tool_calls ?? []) as Json[];
  const { reasoning, reasoning_content } = message;
  const found = { reasoning, reasoning_content };
  const other = field === "reasoning" ? "reasoning_content" : "reasoning";
  if (found[other] !== undefined) return `property '${other}' is unsupported`;
  if (calls.length === 0) return found[field] === undefined ? undefined : `${field} without a call was kept`;
  const { text, signature } = thoughtBefore(String(calls[0]!.id), field);
  if (found[field] !== text) return `The \`${field}\` in the thinking mode must be passed back to the API`;
  const beside = (calls[0]!.extra_content as { google?: { thought_signature?: string } } | undefined)?.google;
  return beside?.thought_signature === signature ? undefined : "Function call is missing a thought_signature";
}
