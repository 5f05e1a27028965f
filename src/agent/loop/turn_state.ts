import type { SessionStatus } from "../../base/mod.ts";
import type { Finish, JsonSchema, Msg, TurnResult, Usage } from "../../protocol/control/mod.ts";

/** One turn, as it is to be run. Plain data: it goes to the loop's thread as it is. */
export interface TurnInput {
  /** The whole system prompt. */
  readonly system: string;
  /** The transcript before this turn. */
  readonly history: readonly Msg[];
  /** What the turn begins with. */
  readonly opening: readonly Msg[];
  /** The answer is JSON that fits this; `true` is any. */
  readonly outputSchema?: JsonSchema;
  readonly maxRounds: number;
  /** What the turn may use, input and output together. */
  readonly maxTokens: number;
  /** The most that one answer may have. */
  readonly maxOutputTokens: number;
  readonly temperature?: number;
  /** Milliseconds since the epoch. */
  readonly deadlineAt: number;
  /** Whether the model is shown `finish`. */
  readonly hasFinish: boolean;
  /** What was done of the turn already, in another thread. */
  readonly state?: TurnState;
}

/** How far a turn has come: at a boundary it can be taken up again by this alone. */
export interface TurnState {
  /** What the turn added to the transcript. */
  readonly messages: readonly Msg[];
  /** Rounds that are over. */
  readonly rounds: number;
  readonly toolCalls: number;
  readonly usage: Usage;
  /** How often each call was made, by its name and canonical arguments. */
  readonly seen: ReadonlyMap<string, number>;
  /** How often the answer was asked for again. */
  readonly reasks: number;
  /** Answers of nothing, one after the other. */
  readonly empty: number;
}

const NOTHING: Usage = { input_tokens: 0, output_tokens: 0 };

/** A turn before its first round; `usage` is what it has cost already, when it begins again. */
export function freshState(opening: readonly Msg[], usage: Usage = NOTHING): TurnState {
  return { messages: opening, rounds: 0, toolCalls: 0, usage, seen: new Map(), reasks: 0, empty: 0 };
}

/** How a turn ended, and why when that is not plain: a sentence of the runtime's. */
export interface TurnEnd extends TurnResult {
  readonly reason?: string;
  /** A failure of the runtime's own, for its log; nobody else sees it. */
  readonly bug?: string;
}

/** What ends a turn, before its transcript is sealed. */
export interface Ending {
  readonly status: SessionStatus;
  readonly reason?: string;
  readonly error?: TurnResult["error"];
  readonly text?: string;
  readonly value?: unknown;
  readonly finish?: Finish;
  readonly bug?: string;
}
