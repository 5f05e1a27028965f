import type { BudgetVerdict } from "./budget.ts";
import type { Notice, ToolRequest } from "./child_state.ts";
import type { Clock } from "./clock.ts";
import type { ProcessWatch } from "./process_watch.ts";
import type { SessionChild } from "./session_child.ts";
import type { ChildEnding } from "./session_launch.ts";

/** What a tool came to. */
export interface ToolOutcome {
  readonly result: unknown;
  readonly is_error: boolean;
}

/** What a child needs of its supervisor. None of it may throw; what takes time is a promise. */
export interface ChildHost {
  readonly clock: Clock;
  readonly processes: ProcessWatch | undefined;
  notice(child: SessionChild, notice: Notice): void;
  log(child: SessionChild, line: string): void;
  spend(child: SessionChild, tokens: number): void;
  callTool(child: SessionChild, request: ToolRequest): Promise<ToolOutcome>;
  askBudget(child: SessionChild, ask: { readonly estimate: number; readonly ownLeft: number }): Promise<BudgetVerdict>;
  /** The one way out, called once. */
  settle(child: SessionChild, ending: ChildEnding): void;
}
