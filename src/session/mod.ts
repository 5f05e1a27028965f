/**
 * `LaunchPlan` → `Outcome`: builds or finds the component, confines this process to its ceiling, starts the cell, and
 * gives one true cause for its ending. Decides no grant and prints nothing.
 * @module
 */
export * from "./build_component.ts";
export * from "./child_launcher.ts";
export { collectOrphans } from "./collect_orphans.ts";
export * from "./outcome.ts";
export { Pause } from "./pause.ts";
export * from "./plan.ts";
export * from "./record_ending.ts";
export { freePort } from "./free_port.ts";
export type { Delegator } from "./delegator.ts";
export type { CellRun, Denied } from "./run_cell.ts";
export { runForeground } from "./run_foreground.ts";
export * from "./self_command.ts";
export type { HttpServing, ServingResult } from "./serve_http.ts";
export { startServing } from "./start_serving.ts";
export * from "./model_ports.ts";
export * from "./prepare_session.ts";
export { recordedDelegator } from "./recorded_delegator.ts";
export * from "./spawner_handle.ts";
export * from "./session_task.ts";
export { type CeilingPlaces, openHull, supervisorRules, treeRules, withModelPorts } from "./supervisor_hull.ts";
