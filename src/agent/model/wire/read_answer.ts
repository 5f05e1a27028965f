import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import { CapsuleError } from "../../../base/mod.ts";
import type { ToolCall, Usage } from "../../../protocol/control/mod.ts";
import { AttemptFailure } from "./attempt_failure.ts";
import { FILLED } from "./fill_usage.ts";
import { largeAnswer } from "./guarded_fetch.ts";
import { ReasoningKeeper } from "./kept_reasoning.ts";
import type { ModelAnswer, ModelStop } from "../model.ts";
import type { ModelEndpoint } from "./model_endpoint.ts";
import { MAX_ARGUMENTS_LENGTH, readArguments } from "./tool_arguments.ts";

/** Bounds of an answer's content: characters of text, calls, characters of a call's id or name. */
export const ANSWER_LIMITS = { text: 4 * 1024 * 1024, toolCalls: 128, name: 256 } as const;

/** What an answer is read for. */
export interface ReadAnswerOptions {
  readonly endpoint: ModelEndpoint;
  /** Whose thoughts are kept, as `Reasoning.model` has it. */
  readonly thinker: string;
  onText(piece: string): void;
}

type Part<T extends LanguageModelV4StreamPart["type"]> = Extract<LanguageModelV4StreamPart, { type: T }>;

/**
 * Reads the parts of one answer, whole.
 *
 * @throws {AttemptFailure} when it breaks off or cannot be read; `model.bad_answer` beyond a bound
 */
export async function readAnswer(
  parts: ReadableStream<LanguageModelV4StreamPart>,
  { endpoint, thinker, onText }: ReadAnswerOptions,
): Promise<ModelAnswer> {
  const text = new TextPieces(endpoint, onText);
  const calls: ToolCall[] = [];
  const reasoning = new ReasoningKeeper();
  let [model, end, isBegun]: [string | undefined, Part<"finish"> | undefined, boolean] = [undefined, undefined, false];
  for await (const part of parts) {
    if (part.type === "error") throw brokenOff(endpoint, part.error, isBegun);
    reasoning.add(part, text.length);
    if (part.type === "text-delta") text.add(part.delta);
    if (part.type === "tool-call") calls.push(readCall(part, calls.length, endpoint));
    if (part.type === "response-metadata" && part.modelId !== undefined) {
      model = part.modelId.slice(0, ANSWER_LIMITS.name);
    }
    if (part.type === "finish") end = part;
    isBegun ||= part.type !== "stream-start" && part.type !== "raw";
  }
  if (end === undefined) throw isBegun ? cut(endpoint) : noEvents(endpoint);
  const { unified } = end.finishReason;
  if (unified === "error" || unified === "interrupted") throw cut(endpoint);
  text.end();
  const { kept } = reasoning;
  return {
    text: text.whole,
    toolCalls: calls,
    ...(kept === undefined ? {} : { reasoning: { model: thinker, kept } }),
    ...readUsage(end.usage),
    stop: stopOf(unified, calls.length),
    ...(model === undefined ? {} : { model }),
  };
}

/** The text of an answer, handed on as it comes, in whole characters. */
class TextPieces {
  readonly #endpoint: ModelEndpoint;
  readonly #onText: (piece: string) => void;
  readonly #pieces: string[] = [];
  #length = 0;
  /** The first half of a character whose second is still to come. */
  #half = "";

  constructor(endpoint: ModelEndpoint, onText: (piece: string) => void) {
    this.#endpoint = endpoint;
    this.#onText = onText;
  }

  /** Of all that came, characters. */
  get length(): number {
    return this.#length;
  }

  get whole(): string {
    return this.#pieces.join("");
  }

  add(delta: string): void {
    this.#length += delta.length;
    if (this.#length > ANSWER_LIMITS.text) throw largeAnswer(this.#endpoint, "4 MiB of text");
    const text = this.#half + delta;
    this.#half = /[\ud800-\udbff]$/.exec(text)?.[0] ?? "";
    this.#say(text.slice(0, text.length - this.#half.length));
  }

  end(): void {
    this.#say(this.#half);
  }

  #say(piece: string): void {
    if (piece === "") return;
    this.#pieces.push(piece);
    this.#onText(piece);
  }
}

function readCall(
  { toolCallId, toolName, input }: Part<"tool-call">,
  before: number,
  endpoint: ModelEndpoint,
): ToolCall {
  if (before === ANSWER_LIMITS.toolCalls) throw largeAnswer(endpoint, `${before} tool calls`);
  if (input.length > MAX_ARGUMENTS_LENGTH) throw largeAnswer(endpoint, "1 MiB of arguments in a tool call");
  const isUsable = toolCallId !== "" && toolCallId.length <= ANSWER_LIMITS.name;
  return {
    id: isUsable ? toolCallId : `call_${crypto.randomUUID()}`,
    // No tool has a longer one: whoever looks for it says so.
    name: toolName.slice(0, ANSWER_LIMITS.name),
    arguments: readArguments(input),
  };
}

/** The provider's own count; what it does not say, or says impossibly, is 0 and not reported. */
function readUsage(
  { inputTokens, outputTokens, raw }: LanguageModelV4Usage,
): { usage: Usage; isUsageReported: boolean } {
  const isCount = (value: number | undefined) => value !== undefined && Number.isSafeInteger(value) && value >= 0;
  const count = (value: number | undefined) => isCount(value) ? value! : 0;
  return {
    usage: { input_tokens: count(inputTokens.total), output_tokens: count(outputTokens.total) },
    isUsageReported: isCount(inputTokens.total) && isCount(outputTokens.total) && !Object.hasOwn(raw ?? {}, FILLED),
  };
}

function stopOf(reason: Part<"finish">["finishReason"]["unified"], calls: number): ModelStop {
  if (reason === "length") return "length";
  if (reason === "content-filter") return "refused";
  return calls > 0 ? "tool_calls" : "end";
}

/** Of the library's own errors only the names are used: their texts hold what the server sent. */
function brokenOff(endpoint: ModelEndpoint, error: unknown, isBegun: boolean): Error {
  if (error instanceof AttemptFailure || error instanceof CapsuleError) return error;
  const name = error instanceof Error ? error.name : "";
  if (name === "AI_InvalidResponseDataError") return isBegun ? cut(endpoint) : noEvents(endpoint);
  return name.startsWith("AI_") && name !== "AI_APICallError"
    ? new AttemptFailure("unreadable", `${endpoint.label}: an event of its answer is none of its dialect`)
    : new AttemptFailure("down", `${endpoint.label}: it reported an error in the middle of its answer`);
}

function cut(endpoint: ModelEndpoint): AttemptFailure {
  return new AttemptFailure("down", `${endpoint.label}: its answer broke off`);
}

function noEvents(endpoint: ModelEndpoint): AttemptFailure {
  return new AttemptFailure("unreadable", `${endpoint.label}: its answer has no event`);
}
