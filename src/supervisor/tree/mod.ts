/**
 * A tree of sessions: launch spec → living child → how it ended, for every child of one supervisor. In: what to start,
 * and commands. Out: notices, and one ending per child. It runs no model and no guest, knows processes and not capsules,
 * and can be neither talked into anything nor blocked by a child. A door of its own: a foreground run needs none of it.
 * @module
 */
export * from "./admission.ts";
export * from "./budget.ts";
export * from "./child_ending.ts";
export * from "./child_state.ts";
export * from "./gates.ts";
export { type Clock, SYSTEM_CLOCK } from "./clock.ts";
export * from "./intel_health.ts";
export * from "./liveness.ts";
export type { ProcessMark, ProcessWatch } from "./process_watch.ts";
export * from "./restart.ts";
export type { ToolOutcome } from "./child_host.ts";
export type { SessionChild } from "./session_child.ts";
export * from "./session_launch.ts";
export * from "./supervisor.ts";
export * from "./supervisor_options.ts";
export { MAX_QUEUED_BYTES, MAX_QUEUED_FRAMES } from "./write_queue.ts";
export { isOwnProcess } from "../own_processes.ts";
