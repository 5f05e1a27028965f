import { boundedHead, printableLine } from "../../base/mod.ts";
import type { Usage } from "../../protocol/control/mod.ts";
import type { TraceWriter } from "../../records/mod.ts";
import type { SessionControl } from "../../session/role.ts";
import type { LoopEvent } from "../loop/mod.ts";

/** Whose turn is followed. */
export interface FollowedTurn {
  readonly control: Pick<SessionControl, "say" | "offer">;
  readonly trace: Pick<TraceWriter, "append">;
  readonly taskId: string;
  /** Counts the turns of the session. */
  readonly turn: number;
  /** Whether texts and arguments go into the trace. */
  readonly capturesContent: boolean;
  /** Hears the answer as it comes; `undefined`: what came of the round is void. */
  onText?(text: string | undefined): void;
}

/** The longest text that the trace keeps of a round or a call, bytes. */
const MAX_CAPTURED_BYTES = 64 * 1024;

/** Tells the supervisor and the trace what happens in a turn, and counts what it costs. */
export class TurnFollower {
  readonly #of: FollowedTurn;
  #usage: Usage = { input_tokens: 0, output_tokens: 0 };
  #rounds = 0;

  constructor(of: FollowedTurn) {
    this.#of = of;
  }

  /** What the rounds so far have cost. */
  get spent(): { readonly usage: Usage; readonly rounds: number } {
    return { usage: this.#usage, rounds: this.#rounds };
  }

  follow(event: LoopEvent): void {
    const { turn } = this.#of;
    const round = event.round;
    switch (event.kind) {
      case "think":
        return this.#tell("turn.think", { turn, round });
      case "text":
        this.#of.onText?.(event.text);
        return this.#tell("turn.text", { turn, round, at: event.at, text: event.text });
      case "reset":
        this.#of.onText?.(undefined);
        return this.#tell("turn.text", { turn, round, at: 0, text: "", reset: true });
      case "round":
        return this.#followRound(event);
      case "tool":
        return this.#tell("turn.tool", { turn, tool: nameOf(event.call.name), i: event.i, of: event.of });
      case "tool_end":
        return this.#followToolEnd(event);
    }
  }

  #followRound({ round, ms, answer, toolCalls }: Extract<LoopEvent, { kind: "round" }>): void {
    const { control, trace, taskId, turn, capturesContent } = this.#of;
    const input_tokens = count(answer.usage.input_tokens);
    const output_tokens = count(answer.usage.output_tokens);
    this.#rounds++;
    this.#usage = {
      input_tokens: this.#usage.input_tokens + input_tokens,
      output_tokens: this.#usage.output_tokens + output_tokens,
    };
    control.say({ type: "usage", input_tokens, output_tokens });
    this.#tell("turn.round", {
      turn,
      round,
      tool_calls: toolCalls,
      tokens_in: input_tokens,
      tokens_out: output_tokens,
    });
    trace.append("inference", {
      task_id: taskId,
      turn,
      round,
      ...(answer.model === undefined ? {} : { model: printableLine(answer.model, 200) }),
      input_tokens,
      output_tokens,
      ...(answer.isUsageReported ? {} : { usage_missing: true }),
      stop: answer.stop,
      tool_calls: toolCalls,
      duration_ms: ms,
      ...(capturesContent ? { text: boundedHead(answer.text, MAX_CAPTURED_BYTES) } : {}),
    });
  }

  #followToolEnd({ round, call, i, isError, ms, content, failure }: Extract<LoopEvent, { kind: "tool_end" }>): void {
    const { trace, taskId, turn, capturesContent } = this.#of;
    const tool = nameOf(call.name);
    this.#tell("turn.tool_end", { turn, tool, i, is_error: isError, ms });
    trace.append("tool_call", {
      task_id: taskId,
      turn,
      round,
      tool,
      is_error: isError,
      ...(failure === undefined ? {} : { failure }),
      duration_ms: ms,
      ...(capturesContent ? { arguments: call.arguments, content: boundedHead(content, MAX_CAPTURED_BYTES) } : {}),
    });
  }

  #tell(event: string, fields: Record<string, unknown>): void {
    this.#of.control.offer({ type: "event", event, fields });
  }
}

function nameOf(name: string): string {
  return printableLine(name, 200);
}

function count(tokens: number): number {
  return Number.isSafeInteger(tokens) && tokens > 0 ? tokens : 0;
}
