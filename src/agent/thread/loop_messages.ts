import type { Intelligence, ToolCall } from "../../protocol/control/mod.ts";
import type { BudgetReply, LoopEvent, LoopTool, ToolReply, TurnEnd, TurnInput, TurnState } from "../loop/mod.ts";
import type { ModelHealth } from "../model/mod.ts";

/** The model that the thread is to open. Holds a credential. */
export interface OpenModel {
  readonly intelligence: Intelligence;
  readonly caCerts: readonly string[];
  readonly proxy?: string;
}

/** A turn for the thread. */
export interface ThreadTurn {
  readonly input: TurnInput;
  readonly tools: readonly LoopTool[];
  readonly asksBudget: boolean;
}

/** What the loop asks of the main thread, and what it is answered. */
export interface LoopAsks {
  /** `leave`: the turn goes on elsewhere, and its state is wanted. */
  readonly boundary: { readonly ask: null; readonly answer: "go" | "leave" };
  readonly call: { readonly ask: ToolCall; readonly answer: CallAnswer };
  readonly budget: { readonly ask: number; readonly answer: BudgetReply };
  readonly outcomes: { readonly ask: null; readonly answer: string };
}

/** A tool's reply, and whether there is something delegated since. */
export interface CallAnswer {
  readonly reply: ToolReply;
  readonly isDelegating: boolean;
}

/** One question, under its number. */
export type LoopAsk = {
  readonly [What in keyof LoopAsks]: { readonly what: What; readonly ask: LoopAsks[What]["ask"] };
}[keyof LoopAsks];

/** Main thread to loop. */
export type ToLoop =
  | ({ readonly kind: "open" } & OpenModel)
  | ({ readonly kind: "turn" } & ThreadTurn)
  | { readonly kind: "answer"; readonly id: number; readonly answer: unknown }
  /** The turn is to end; `deadline` is a reason of its own. */
  | { readonly kind: "end"; readonly reason: string };

/** Loop to main thread. */
export type FromLoop =
  | { readonly kind: "up" }
  | { readonly kind: "opened" }
  /** The model could not be opened. */
  | { readonly kind: "refused"; readonly code: string; readonly message: string }
  | { readonly kind: "health"; readonly health: ModelHealth }
  | { readonly kind: "event"; readonly event: LoopEvent }
  | { readonly kind: "ask"; readonly id: number; readonly asked: LoopAsk }
  /** Nobody waits for the answer any more. */
  | { readonly kind: "forget"; readonly id: number }
  | { readonly kind: "left"; readonly state: TurnState }
  | { readonly kind: "ended"; readonly end: TurnEnd };
