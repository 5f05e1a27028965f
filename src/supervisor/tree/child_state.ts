import type { EndedBy, SessionStatus } from "../../base/mod.ts";
import type {
  AgentMsg,
  BudgetGrant,
  ControlMsg,
  SwapIntel,
  TaskOutcome,
  TerminalMsg,
  ToolAnswer,
  UnknownMessage,
} from "../../protocol/control/mod.ts";
import type { ChildExit } from "../cell_process.ts";
import type { Ending } from "./child_ending.ts";
import { type Flow, newFlow } from "./flow.ts";
import type { GateVia, OpenGate, ReplyVerdict } from "./gates.ts";
import { LIVENESS_TIMEOUTS, type LivenessTimeouts } from "./liveness.ts";

/**
 * Where a child is. `starting`: not yet ready; `paused`: it was told to stop at the next turn boundary; `ending`: its
 * last word was heard, its process is gone, or the ladder runs; `ended`: reaped, and its ending told.
 */
export const PHASES = ["starting", "running", "paused", "ending", "ended"] as const;
export type Phase = typeof PHASES[number];

/** How long each wait lasts, ms. */
export interface ChildTimings {
  readonly liveness: LivenessTimeouts;
  /** From the start to `ready`. */
  readonly readyMs: number;
  /** Beyond the payload's deadline, which the child keeps itself. */
  readonly deadlineSlackMs: number;
  /** From `cancel`, or the last word, to SIGTERM. */
  readonly cancelMs: number;
  /** From SIGTERM to SIGKILL. */
  readonly termMs: number;
}

/** The timings of every child. */
export const CHILD_TIMINGS: ChildTimings = {
  liveness: LIVENESS_TIMEOUTS,
  readyMs: 180_000,
  deadlineSlackMs: 60_000,
  cancelMs: 5_000,
  termMs: 2_000,
};

/** What holds for the whole life of a child: minted by its supervisor, changed by nothing that the child says. */
export interface ChildRules {
  readonly warm: boolean;
  /** Its turns come from a door of its own: it has none when it is ready, and says `turn.start` when one begins. */
  readonly hasDoor?: boolean;
  readonly role: "agent" | "turn" | "command";
  readonly maxTokens: number;
  readonly deadlineMs: number;
  /** It has a memory limit, so that an abort is that limit's. */
  readonly memoryLimited: boolean;
  /** Patterns of tools that it may ask for; absent does not narrow. */
  readonly allowedTools?: readonly string[] | undefined;
  readonly timings: ChildTimings;
}

/** Why the supervisor itself ends a child. The first is kept. */
export interface EndReason {
  readonly status: SessionStatus;
  readonly ended_by: EndedBy;
  readonly detail: string;
}

/** The ladder of a child that has to go: what was done last, and when the next step is due. */
export interface Ladder {
  readonly step: "asked" | "terminated" | "killed";
  readonly nextMs: number;
}

/** What was dropped, by kind: counted, since silence would hide it. */
export interface Dropped {
  /** Frames of unknown type. */
  readonly unknown: number;
  /** Answers that nobody waited for. */
  readonly answers: number;
  /** Events beyond what a watcher can follow. */
  readonly events: number;
  /** Frames after a fault. */
  readonly frames: number;
  /** Lines of its log beyond what a watcher can follow. */
  readonly lines: number;
}

/** One child as its supervisor knows it. All times on the supervisor's own clock. */
export interface ChildState {
  readonly phase: Phase;
  readonly rules: ChildRules;
  readonly startedMs: number;
  readonly readyMs?: number;
  readonly progressMs: number;
  readonly pongMs: number;
  readonly pingedMs: number;
  readonly pingSeq: number;
  /** The backstop; absent while no turn runs. */
  readonly deadlineMs?: number | undefined;
  readonly lastEvent?: string;
  /** Events that are passed on. */
  readonly events: Flow;
  /** Gates, turns and news of its model. */
  readonly news: Flow;
  readonly pauseWanted: boolean;
  /** A turn runs; so many messages wait for theirs. */
  readonly turnOpen: boolean;
  readonly turnsQueued: number;
  readonly gate?: OpenGate | undefined;
  readonly pending: ReadonlyMap<number, "tool" | "budget">;
  readonly reason?: EndReason;
  readonly terminal?: TerminalMsg;
  readonly lastTurn?: TaskOutcome;
  /** It was asked to close between two turns: its last result is its result. */
  readonly closing: boolean;
  readonly channelOpen: boolean;
  /** Its output ended inside a frame. */
  readonly torn?: string;
  /** A fault was found in its output: nothing but its spending counts any more. */
  readonly broken: boolean;
  readonly ladder?: Ladder | undefined;
  readonly exit?: ChildExit;
  readonly exitMs?: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly unknownTags: readonly string[];
  readonly dropped: Dropped;
}

/** What an operator, a parent or a port wants of a child. */
export type ChildCommand =
  | { readonly kind: "pause" }
  | { readonly kind: "resume" }
  | { readonly kind: "cancel"; readonly reason: EndReason }
  | { readonly kind: "kill"; readonly reason: EndReason }
  | { readonly kind: "close" }
  /** Ends the turn that runs, and not the session. */
  | { readonly kind: "cancel_turn" }
  | { readonly kind: "inject"; readonly message: string }
  | { readonly kind: "reply"; readonly node: string; readonly message: string }
  | { readonly kind: "swap"; readonly swap: Omit<SwapIntel, "type"> }
  | { readonly kind: "answer"; readonly message: ToolAnswer | BudgetGrant };

/** What can happen to a child. */
export type ChildInput =
  | { readonly kind: "frame"; readonly message: AgentMsg | UnknownMessage }
  /** Its output broke the protocol: the rule and the byte, never the payload. */
  | { readonly kind: "fault"; readonly detail: string }
  /** What waits for it has reached its bound: it does not read. */
  | { readonly kind: "blocked"; readonly detail: string }
  /** It could not be started. */
  | { readonly kind: "not_started"; readonly detail: string }
  /** Its output ended; `torn` when inside a frame. */
  | { readonly kind: "eof"; readonly torn?: string }
  | { readonly kind: "exit"; readonly exit: ChildExit }
  /** After its exit, all that it wrote has been read. */
  | { readonly kind: "drained"; readonly tail: string; readonly lostLines?: number }
  | { readonly kind: "tick" }
  | { readonly kind: "command"; readonly command: ChildCommand };

/** What became of a command. */
export type CommandVerdict = "done" | "already" | "ending" | "ended" | "not_warm" | "unknown_id" | ReplyVerdict;

/** What others may want to know of a child. */
export type Notice =
  | { readonly kind: "ready" }
  | { readonly kind: "event"; readonly event: string; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly kind: "turn"; readonly outcome: TaskOutcome }
  | { readonly kind: "gate"; readonly node: string; readonly payload: unknown }
  | { readonly kind: "gate_closed"; readonly node: string; readonly via: GateVia }
  /** A reply was taken, and then lost to a resource, the timeout or the child's end. */
  | { readonly kind: "reply_undelivered"; readonly node: string; readonly via: GateVia }
  | Extract<AgentMsg, { type: "intel_health" }> & { readonly kind: "intel_health" };

/** A tool that a session asks its supervisor for. */
export interface ToolRequest {
  readonly name: string;
  readonly args: unknown;
  /** The same when its turn is replayed: what has been done under it is not done again. */
  readonly idempotency_key?: string;
}

/** What is to be done, by whoever holds the process. */
export type ChildEffect =
  | { readonly kind: "send"; readonly message: ControlMsg }
  | { readonly kind: "close_stdin" }
  /** To its process group; with SIGKILL also to every process that is known to descend from it. */
  | { readonly kind: "signal"; readonly signal: "SIGTERM" | "SIGKILL" }
  | { readonly kind: "spent"; readonly tokens: number }
  | ({ readonly kind: "tool"; readonly id: number } & ToolRequest)
  | { readonly kind: "budget"; readonly id: number; readonly estimate: number; readonly ownLeft: number }
  | { readonly kind: "notice"; readonly notice: Notice }
  | { readonly kind: "log"; readonly line: string }
  | { readonly kind: "told"; readonly verdict: CommandVerdict }
  /** Once, last: the one way out. */
  | { readonly kind: "settle"; readonly ending: Ending };

/** A state and what follows from it. */
export interface Step {
  readonly state: ChildState;
  readonly effects: readonly ChildEffect[];
}

/** A child that is about to be started. */
export function newChild(rules: ChildRules, nowMs: number): ChildState {
  return {
    phase: "starting",
    rules,
    startedMs: nowMs,
    progressMs: nowMs,
    pongMs: nowMs,
    pingedMs: nowMs,
    pingSeq: 0,
    events: newFlow(nowMs),
    news: newFlow(nowMs),
    pauseWanted: false,
    turnOpen: true,
    turnsQueued: 0,
    pending: new Map(),
    closing: false,
    channelOpen: true,
    broken: false,
    tokensIn: 0,
    tokensOut: 0,
    unknownTags: [],
    dropped: { unknown: 0, answers: 0, events: 0, frames: 0, lines: 0 },
  };
}
