/**
 * What a role that another room brings works with: its session's control, walls and records, and the ways to its
 * supervisor. Not behind `mod.ts`: only a session process needs it.
 * @module
 */
export type { RoleResult, SessionWork } from "./control/session_work.ts";
export type { SessionControl } from "./control/session_control.ts";
export type { Outcome } from "./outcome.ts";
export { deniedEvent } from "./cell/denied_event.ts";
export type { RunNetwork } from "./network/run_network.ts";
export { openNetwork } from "./cell/run_cell.ts";
export { upstreamOf } from "./network/payload_upstream.ts";
export { remoteLauncher } from "./delegations/remote_launcher.ts";
export { type DoorTasks, raiseDoorHull, serveDoor } from "./door/serve_door.ts";
export { supervisorRules, withModelPorts } from "./walls/supervisor_hull.ts";
export { isCompiled } from "./self_command.ts";
export type { ToolReply } from "./control/tool_requests.ts";
export { TurnDelegations } from "./door/turn_delegations.ts";
export type { TurnInbox } from "./control/turn_inbox.ts";
