/**
 * What a role that another room brings works with: its session's control, walls and records, and the ways to its
 * supervisor. Not behind `mod.ts`: only a session process needs it.
 * @module
 */
export type { RoleResult, SessionWork } from "./session_work.ts";
export type { SessionControl } from "./session_control.ts";
export type { Outcome } from "./outcome.ts";
export { upstreamOf } from "./payload_upstream.ts";
export { remoteLauncher } from "./remote_launcher.ts";
export { type DoorTasks, raiseDoorHull, serveDoor } from "./serve_door.ts";
export { supervisorRules, withModelPorts } from "./supervisor_hull.ts";
export { isCompiled } from "./self_command.ts";
export type { ToolReply } from "./tool_requests.ts";
export { TurnDelegations } from "./turn_delegations.ts";
export type { TurnInbox } from "./turn_inbox.ts";
