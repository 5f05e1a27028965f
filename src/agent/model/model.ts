import type { ActiveEndpoint, Msg, Reasoning, ToolCall, ToolDef, Usage } from "../../protocol/control/mod.ts";
import type { ModelClock } from "./model_clock.ts";

/** One round: what the model is told, and how much it may say. */
export interface ModelRequest {
  /** The transcript, the system's word first; every call in it is answered. */
  readonly messages: readonly Msg[];
  readonly tools: readonly ToolDef[];
  readonly maxOutputTokens: number;
  readonly temperature?: number;
  /** Ends the call; its reason is what the call then rejects with. */
  readonly signal: AbortSignal;
  /** A piece of the answer's text as it comes. */
  onText?(piece: string): void;
  /** The answer starts again, after a fault: what `onText` gave so far is void. Comes only after some `onText`. */
  onReset?(): void;
}

/** Why the model stopped: it had said all, it wants its calls answered, its tokens were used up, it declined. */
export type ModelStop = "end" | "tool_calls" | "length" | "refused";

/** What the model said. */
export interface ModelAnswer {
  readonly text: string;
  /** In the order in which the model wrote them. */
  readonly toolCalls: readonly ToolCall[];
  /** What it thought on the way to its calls: to go back to it with them, and no part of the answer. */
  readonly reasoning?: Reasoning;
  /** The provider's own count. */
  readonly usage: Usage;
  /** Whether the provider gave a count; without one `usage` is 0. */
  readonly isUsageReported: boolean;
  readonly stop: ModelStop;
  /** The model that answered, as the provider names it. */
  readonly model?: string;
}

/** A model, however many endpoints stand behind it. */
export interface Model {
  /**
   * One round. Tries again on the same endpoint, then the next, as their breakers (`wire/breaker.ts`) say.
   *
   * @throws `model.unreachable` no endpoint answered; `model.unauthorized` an endpoint refused the credential;
   * `model.rejected` an endpoint refused the request; `model.bad_answer` what came cannot be read or is too large;
   * the signal's reason
   */
  call(request: ModelRequest): Promise<ModelAnswer>;
  /** Ends its connections. */
  close(): void;
}

/** Whether any endpoint can be reached; never a URL, host or credential. */
export interface ModelHealth {
  readonly all_down: boolean;
  readonly active?: ActiveEndpoint;
}

/** What else {@link openModel} is given. */
export interface OpenModelOptions {
  /** The name of the variable that holds the credential, for messages; default the one that came with it. */
  readonly credential?: string;
  /** PEM certificates to trust beside the built-in ones. */
  readonly caCerts?: readonly string[];
  /** The operator's own way out, `http://HOST:PORT`, for all endpoints but those on loopback. */
  readonly proxy?: string;
  /** Called when "all down" begins or ends, and then only. */
  onHealth?(health: ModelHealth): void;
  /** Default the system's. */
  readonly clock?: ModelClock;
}
