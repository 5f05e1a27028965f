import type { TreeNode } from "../../protocol/tree/mod.ts";
import type { AdmissionLimits } from "./admission.ts";
import type { ToolOutcome } from "./child_host.ts";
import type { ChildTimings, Notice, ToolRequest } from "./child_state.ts";
import type { Clock } from "./clock.ts";
import type { ProcessWatch } from "./process_watch.ts";
import type { SessionChild } from "./session_child.ts";
import type { ChildEnding } from "./session_launch.ts";

/** What others give to a supervisor, and are told by it. What they throw is logged and changes nothing. */
export interface SupervisorPorts {
  /** Writes what a dead child could not; its waiter is told afterwards. */
  record?(ending: ChildEnding): void | Promise<void>;
  notice?(child: SessionChild, notice: Notice): void;
  /** A warm child was started again. */
  restarted?(child: SessionChild): void;
  /** One line of a child's stderr, or of the supervisor about it. */
  log?(child: SessionChild, line: string): void;
  /** Runs a supervisor's own tool. Who asks is `child`; what it may have is checked here again. */
  callTool?(child: SessionChild, request: ToolRequest): Promise<ToolOutcome>;
  readonly processes?: ProcessWatch;
}

/** Where the session of the supervisor's own process stands in its tree; it starts children, and is none of them. */
export const OWN_PLACE = "0";

/** What one tree may be, and what its supervisor stands on. */
export interface SupervisorOptions {
  /** This process is the root's session, at {@link OWN_PLACE}: every child has a parent. Absent: children may be roots. */
  readonly own?: { readonly maxDepth: number };
  /** Tokens of the whole tree. */
  readonly treeTokens: number;
  readonly admission?: AdmissionLimits;
  readonly timings?: ChildTimings;
  readonly drain?: DrainTimings;
  /** The model for what no longer fits, and its price as a share of the one asked for. */
  readonly cheaper?: { readonly model: string; readonly share: number };
  readonly clock?: Clock;
  /** 0 to 1. */
  readonly random?: () => number;
  readonly ports?: SupervisorPorts;
}

/** How long a drain may take, ms: until everything is killed, and from then until what is left is named. */
export interface DrainTimings {
  readonly patienceMs: number;
  readonly killMs: number;
}

/** The bounds of every drain. */
export const DRAIN_TIMINGS: DrainTimings = { patienceMs: 25_000, killMs: 3_000 };

/** How a drain went. */
export interface DrainReport {
  readonly endings: readonly ChildEnding[];
  /** Paths of those that heeded nothing but SIGKILL. */
  readonly killed: readonly string[];
  /** What still lives. */
  readonly stragglers: readonly TreeNode[];
}
