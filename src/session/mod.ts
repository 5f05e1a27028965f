/**
 * `LaunchPlan` → `Outcome`: builds or finds the component, confines this process to its ceiling, starts the cell, and
 * gives one true cause for its ending. Decides no grant and prints nothing.
 * @module
 */
export * from "./build_component.ts";
export * from "./delegations/child_launcher.ts";
export { collectOrphans } from "./collect_orphans.ts";
export * from "./outcome.ts";
export { Pause } from "./control/pause.ts";
export * from "./plan.ts";
export * from "./record_ending.ts";
export { freePort } from "./network/free_port.ts";
export type { Delegator } from "./delegations/delegator.ts";
export type { CellRun, Denied } from "./cell/run_cell.ts";
export { runForeground } from "./cell/run_foreground.ts";
export * from "./self_command.ts";
export type { HttpServing, ServingResult } from "./http/serve_http.ts";
export { startServing } from "./http/start_serving.ts";
export * from "./network/model_ports.ts";
export * from "./prepare_session.ts";
export { recordedDelegator } from "./delegations/recorded_delegator.ts";
export * from "./delegations/spawner_handle.ts";
export * from "./session_task.ts";
export { type CeilingPlaces, openHull, supervisorRules, treeRules, withModelPorts } from "./walls/supervisor_hull.ts";
