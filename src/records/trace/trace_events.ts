/**
 * The trace's events and their fields (docs/records.md, "Trace"). A new event is one more entry of {@link TraceFields}: writer
 * and readers take it from there.
 */
import type { Containment, EndedBy, SessionStatus } from "../../base/mod.ts";

export type { EndedBy, SessionStatus };

/** First event: what runs, how it is contained, with which authority. No values of variables, no secrets. */
export interface SessionStart {
  readonly capsule: {
    readonly name: string;
    readonly kind: "folder" | "component";
    readonly path: string;
    readonly version?: string;
  };
  /** `sha256:<hex>` of the capsule (docs/manifest.md, "Digest"). */
  readonly digest: string;
  readonly containment: {
    /** The floor that was asked for; absent when none was. */
    readonly declared?: Containment;
    readonly achieved: Containment;
    /** Why the class is not stronger; empty when it is the strongest. */
    readonly reasons?: readonly string[];
  };
  /** The effective grants, as `boll explain --json` prints them. */
  readonly grants: unknown;
  /** What the guest was told: only with `trace.capture: "content"`. */
  readonly args?: readonly string[];
  /** How many arguments there were; not with `trace.capture: "none"`. */
  readonly args_count?: number;
  /** The folder behind `/workdir`, when that is granted. */
  readonly work?: string;
  readonly boll_version?: string;
  readonly spawned_by?: string;
  readonly delegation_id?: string;
}

/** What stands around the guest, said by its cell and checked by its parent before the guest's first instruction. */
export interface WallsRaised {
  /** `lists`: a thread of its own with narrowed permissions; `revoked`: none are left at all. */
  readonly permissions: "lists" | "revoked";
  readonly landlock: boolean;
  /** Landlock's ABI version, 0 without it. */
  readonly landlock_abi: number;
  readonly seccomp: boolean;
}

/** A wall said no: which one, for lack of which grant, to what, and what would allow it next time. */
export interface Denied {
  readonly wall: "imports" | "permissions" | "process" | "kernel";
  readonly grant: string;
  readonly asked: string;
  readonly allow?: { readonly flag?: string; readonly manifest?: string };
}

/** A connection went through the gate. */
export interface Connection {
  readonly host: string;
  readonly port: number;
  readonly address?: string;
  readonly grant: string;
  readonly outcome: "opened" | "refused" | "failed";
  /** Why it was not opened, or what ended it before its time. */
  readonly error?: string;
  readonly bytes_up?: number;
  readonly bytes_down?: number;
}

/** A limit of the grants was reached. */
export interface LimitEvent {
  readonly limit: string;
  readonly allowed: number;
  readonly used?: number;
}

/** A cached component did not hash to its digests and was built anew. */
export interface CacheMismatch {
  readonly key: string;
  readonly detail: string;
}

/** The run's guest asked for another capsule, and a session of that was started. */
export interface DelegationStart {
  readonly delegation_id: string;
  readonly child_session_id: string;
  readonly capsule: string;
  readonly version: string;
  readonly deadline_ms: number;
}

/** It asked, and none was started. */
export interface DelegationRefused {
  /** As it was asked for. */
  readonly capsule: string;
  readonly kind: "refused" | "failed";
  readonly reason: string;
}

/** A delegation has ended: how is in the child's own records. */
export interface DelegationEnded {
  readonly delegation_id: string;
  readonly child_session_id?: string;
  readonly status: string;
  readonly duration_ms: number;
}

/** A message to a session's door has become a task, and the task a turn. No text of it. */
export interface TaskStart {
  readonly task_id: string;
  readonly context_id: string;
  /** How far its sender is trusted, by what was shown at the door. */
  readonly origin: "user" | "peer" | "system";
  readonly principal: string;
  readonly is_rerun: boolean;
}

/** What became of a task; with its status when it was a model's. */
export interface TaskEnded {
  readonly task_id: string;
  readonly state: "completed" | "failed" | "canceled" | "rejected";
  readonly status?: SessionStatus;
  readonly reason?: string;
  readonly duration_ms: number;
}

/** A round of the model. Its text only with `trace.capture: "content"`. */
export interface InferenceEvent {
  readonly task_id: string;
  readonly turn: number;
  readonly round: number;
  /** As the provider names it. */
  readonly model?: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** The provider gave no count: both are 0. */
  readonly usage_missing?: true;
  readonly stop: string;
  readonly tool_calls: number;
  readonly duration_ms: number;
  readonly text?: string;
}

/** A task asked back. */
export interface GateOpened {
  readonly task_id: string;
}

/** It was answered, or not. */
export interface GateClosed {
  readonly task_id: string;
  readonly how: "answered" | "timeout" | "canceled";
}

/** Someone said at the door that a delegation has ended. */
export interface CompletionHeard {
  readonly delegation_id: string;
  readonly refused?: string;
}

/** Some who followed a task were too slow, and were told so. */
export interface ReadersDropped {
  readonly task_id: string;
  readonly count: number;
}

/** A file that a task left is not handed on. */
export interface ArtifactRefused {
  readonly task_id: string;
  readonly name: string;
  readonly reason: string;
}

/** One HTTP request to a service capsule: no body, no field, no query. */
export interface RequestEvent {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Why the guest's response was none, or not whole. */
  readonly failed?: string;
  readonly detail?: string;
  readonly duration_ms: number;
}

/** A serving cell is gone and another takes its place, or could not be started. */
export interface CellLost {
  readonly reason: string;
  /** Requests that it took along. */
  readonly calls: number;
}

/** A tool was called: by a model, in a round of a task. What went in and came out only with `trace.capture: "content"`. */
export interface ToolCalled {
  readonly tool: string;
  readonly is_error: boolean;
  /** Why a component did not answer by itself. */
  readonly failure?: string;
  readonly duration_ms: number;
  readonly task_id?: string;
  readonly turn?: number;
  readonly round?: number;
  readonly arguments?: unknown;
  readonly content?: string;
}

/** Last event, on every exit path. `exit_code` is the process's own (README, "Exit codes"). */
export interface SessionEnd {
  readonly status: SessionStatus;
  readonly exit_code: number;
  readonly ended_by: EndedBy;
  /** Whole milliseconds; 0 when nobody was there to count (`crashed`). */
  readonly duration_ms: number;
  readonly detail?: string;
  /** What the run used, when its cell lived to say so; not with `trace.capture: "none"`. */
  readonly usage?: { readonly memory_percent: number; readonly bytes_written: number; readonly output_bytes: number };
  /** Events that were counted and not written (a flood), by name. */
  readonly dropped_events?: Readonly<Record<string, number>>;
}

/** Event name → fields. */
export interface TraceFields {
  readonly session_start: SessionStart;
  readonly walls: WallsRaised;
  readonly denied: Denied;
  readonly connection: Connection;
  readonly limit: LimitEvent;
  readonly cache_mismatch: CacheMismatch;
  readonly delegation_start: DelegationStart;
  readonly delegation_refused: DelegationRefused;
  readonly delegation: DelegationEnded;
  readonly task_start: TaskStart;
  readonly task_end: TaskEnded;
  readonly inference: InferenceEvent;
  readonly task_rejected: TaskEnded;
  readonly gate: GateOpened;
  readonly gate_closed: GateClosed;
  readonly completion: CompletionHeard;
  readonly readers_dropped: ReadersDropped;
  readonly artifact_refused: ArtifactRefused;
  readonly request: RequestEvent;
  readonly cell_lost: CellLost;
  readonly tool_call: ToolCalled;
  readonly session_end: SessionEnd;
}

/** Names of events. */
export type TraceEventName = keyof TraceFields;

/** One line of a trace as it was read: the envelope is checked, every other field is foreign data. */
export interface TraceEvent {
  readonly event: string;
  /** Milliseconds since the epoch. */
  readonly ts: number;
  readonly session_id: string;
  readonly [field: string]: unknown;
}
