import type { TaskOrigin } from "./work.ts";

/** State of a task as the trace names it. */
export type TaskStateName =
  | "submitted"
  | "working"
  | "input_required"
  | "completed"
  | "failed"
  | "canceled"
  | "rejected";

/** What happened at the door, for the trace: no text of a message, no answer, no secret. */
export type DoorEvent =
  | {
    readonly event: "task_start";
    readonly task_id: string;
    readonly context_id: string;
    readonly origin: TaskOrigin;
    readonly principal: string;
    readonly is_rerun: boolean;
  }
  | { readonly event: "gate"; readonly task_id: string }
  | { readonly event: "gate_closed"; readonly task_id: string; readonly how: "answered" | "timeout" | "canceled" }
  | {
    readonly event: "task_end";
    readonly task_id: string;
    readonly state: "completed" | "failed" | "canceled" | "rejected";
    readonly reason?: string;
    readonly duration_ms: number;
  }
  | { readonly event: "completion"; readonly delegation_id: string; readonly refused?: string }
  | { readonly event: "readers_dropped"; readonly task_id: string; readonly count: number };
