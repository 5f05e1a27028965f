/**
 * Ports for a loop whose model says what a test wrote down, with a clock that stands still.
 */
import type { Msg, ToolCall } from "../../protocol/control/mod.ts";
import type { ModelAnswer } from "../model/mod.ts";
import type { LoopEvent, LoopPorts, LoopTool, RoundRequest, ToolReply } from "./ports.ts";
import type { TurnInput } from "./turn_state.ts";

/** What the model says in one round: an answer, or code that gives one. */
export type Said = Partial<Omit<ModelAnswer, "toolCalls">> & { readonly calls?: readonly unknown[] };
export type Script = readonly (Said | ((request: RoundRequest) => Promise<Said> | Said))[];

/** A tool by its name; it does what `run` does. */
export interface FixtureTool {
  readonly mutates?: boolean;
  readonly schema?: LoopTool["def"]["input_schema"];
  readonly timeoutMs?: number;
  run?(args: unknown, signal: AbortSignal): Promise<Partial<ToolReply>> | Partial<ToolReply>;
}

/** Ports, and what was seen through them. */
export interface Stage {
  readonly ports: LoopPorts;
  readonly requests: RoundRequest[];
  readonly events: LoopEvent[];
  readonly made: ToolCall[];
  readonly stop: AbortController;
}

export const NOW = 1_000;

/** A call as a model writes it. */
export function call(name: string, args: unknown = {}, id = ""): ToolCall {
  return { id, name, arguments: args };
}

/** Ports around a script; `extra` takes the place of what is there. */
export function stage(
  script: Script,
  tools: Readonly<Record<string, FixtureTool>> = {},
  extra: Partial<LoopPorts> = {},
): Stage {
  const stop = new AbortController();
  const requests: RoundRequest[] = [];
  const events: LoopEvent[] = [];
  const made: ToolCall[] = [];
  const ports: LoopPorts = {
    model: {
      async call(request) {
        requests.push(request);
        const next = script[requests.length - 1];
        if (next === undefined) throw new Error("the script has ended");
        const { calls = [], ...said } = typeof next === "function" ? await next(request) : next;
        return {
          text: "",
          usage: { input_tokens: 10, output_tokens: 5 },
          isUsageReported: true,
          stop: calls.length > 0 ? "tool_calls" : "end",
          ...said,
          toolCalls: calls as ToolCall[],
        };
      },
    },
    tools: {
      list: () =>
        Object.entries(tools).map(([name, { mutates = false, schema = true, timeoutMs }]) => ({
          def: { name, input_schema: schema },
          mutates,
          ...(timeoutMs === undefined ? {} : { timeoutMs }),
        })),
      async call(call, signal) {
        made.push(call);
        const reply = await tools[call.name]?.run?.(call.arguments, signal);
        return { content: `${call.name} done`, isError: false, isForeign: true, ...reply };
      },
    },
    signal: stop.signal,
    now: () => NOW,
    sleep: () => Promise.resolve(),
    boundary: () => Promise.resolve(),
    emit: (event) => events.push(event),
    ...extra,
  };
  return { ports, requests, events, made, stop };
}

/** A turn of 10 rounds that asks for nothing special. */
export function turnInput(input: Partial<TurnInput> = {}): TurnInput {
  return {
    system: "You are a test.",
    history: [],
    opening: [{ role: "user", text: "the task", ts: NOW }],
    maxRounds: 10,
    maxTokens: 100_000,
    maxOutputTokens: 1_000,
    deadlineAt: NOW + 1,
    hasFinish: true,
    ...input,
  };
}

/** What is wrong with a transcript for a model; undefined when nothing is. */
export function transcriptFault(messages: readonly Msg[]): string | undefined {
  const open: string[] = [];
  const ids = new Set<string>();
  for (const [at, message] of messages.entries()) {
    if (message.role === "note") continue;
    if (message.role === "tool") {
      if (open.shift() !== message.id) return `message ${at} answers ${message.id} out of order`;
      continue;
    }
    if (open.length > 0) return `message ${at} leaves ${open} open`;
    if (message.role !== "assistant") continue;
    for (const { id } of message.tool_calls) {
      if (ids.has(id)) return `message ${at} uses ${id} again`;
      ids.add(id);
      open.push(id);
    }
  }
  return open.length > 0 ? `the end leaves ${open} open` : undefined;
}
