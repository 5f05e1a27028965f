import type { ForeignSource } from "../../base/mod.ts";
import type { ToolCall, ToolDef } from "../../protocol/control/mod.ts";
import type { ModelAnswer, ModelRequest } from "../model/mod.ts";
import type { TurnState } from "./turn_state.ts";

/** What a model is asked in one round; with the name of another model than the session's own, when the budget gives only that. */
export interface RoundRequest extends ModelRequest {
  readonly model?: string;
}

/** Port: the model. Rejects with a `CapsuleError` when there is no answer, and with the signal's reason when it aborts. */
export interface ModelPort {
  call(request: RoundRequest): Promise<ModelAnswer>;
}

/** A tool as the loop knows it. */
export interface LoopTool {
  readonly def: ToolDef;
  /** It changes something: it runs alone, and in its order. */
  readonly mutates: boolean;
  /** Longer it may not take; absent: as long as the turn. */
  readonly timeoutMs?: number;
}

/** What came of a call. */
export interface ToolReply {
  readonly content: string;
  readonly isError: boolean;
  /** Written by a tool: it is fenced. What the runtime says, or has fenced already, is not. */
  readonly isForeign: boolean;
  /** Whose words they are; default the tool's. */
  readonly from?: ForeignSource;
  /** The runtime's own line before them. */
  readonly note?: string;
  /** One word: why a tool did not answer by itself. */
  readonly failure?: string;
}

/** Port: the tools. Rejects only for a bug of the runtime; trap, timeout and refusal are replies. */
export interface ToolPort {
  /** What there is now, narrowed by the session's tool grant. */
  list(): readonly LoopTool[];
  call(call: ToolCall, signal: AbortSignal): Promise<ToolReply>;
}

/** The answer to a request to spend. */
export interface BudgetReply {
  readonly ok: boolean;
  /** Above 0 and not `ok`: ask again after so many ms. */
  readonly wait_ms: number;
  readonly model?: string;
  readonly reason?: string;
}

/** Port: what was delegated in this turn. */
export interface DelegationPort {
  /** Whether some of it is under way, or has ended unread. */
  readonly isOpen: boolean;
  /** Settles when all of it has ended, with what is to be read of it: fenced already. */
  outcomes(): Promise<string>;
}

/** What happens in a turn, for whoever follows it. `i` and `of` count the calls of a round. */
export type LoopEvent =
  | { readonly kind: "think"; readonly round: number }
  /** A piece of the round's text, behind so many characters of it: whoever misses one sees it. */
  | { readonly kind: "text"; readonly round: number; readonly at: number; readonly text: string }
  /** What was told as text of the round is void. */
  | { readonly kind: "reset"; readonly round: number }
  | {
    readonly kind: "round";
    readonly round: number;
    readonly ms: number;
    readonly answer: ModelAnswer;
    readonly toolCalls: number;
  }
  | { readonly kind: "tool"; readonly round: number; readonly call: ToolCall; readonly i: number; readonly of: number }
  | {
    readonly kind: "tool_end";
    readonly round: number;
    readonly call: ToolCall;
    readonly i: number;
    readonly isError: boolean;
    readonly ms: number;
    readonly content: string;
    readonly failure?: string;
  };

/** All that a turn reaches. */
export interface LoopPorts {
  readonly model: ModelPort;
  readonly tools: ToolPort;
  /** Ends the turn: at its deadline when the reason is the word `deadline`, else cancelled. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  now(): number;
  sleep(ms: number): Promise<void>;
  /**
   * Settles when the turn may go on behind a boundary between two rounds: it is not paused, and its model is the one that
   * it shall have. Never settles when it goes on elsewhere, with this state.
   */
  boundary(state: TurnState): Promise<void>;
  /** Absent: nobody has to be asked. */
  budget?(estimate: number): Promise<BudgetReply>;
  readonly delegations?: DelegationPort;
  emit(event: LoopEvent): void;
}
