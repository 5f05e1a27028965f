/**
 * The messages between a supervisor and its sessions, typed and checked: what a frame holds in, `ControlMsg` and
 * `AgentMsg` out, or a fault that names the field and never its value (`docs/decisions/0012-control-messages.md`). A door
 * of its own, because a cell and a run in the foreground need none of it. Types may be imported from here at no cost.
 * @module
 */
export * from "./agent_messages.ts";
export * from "./allowed_tools.ts";
export * from "./control_messages.ts";
export { type DoorPeer, type DoorSpec, MAX_QUEUE_DEPTH } from "./door_spec.ts";
export * from "./intelligence.ts";
export { type JsonSchema, jsonSchema, MAX_JSON_DEPTH, MAX_SCHEMA_BYTES } from "./opaque_json.ts";
export * from "./session_limits.ts";
export * from "./spawn_payload.ts";
export * from "./swap_intel.ts";
export * from "./task_outcome.ts";
export * from "./tool_catalogue.ts";
export * from "./transcript.ts";
export * from "./turn.ts";
export type { UnknownMessage } from "./unknown_message.ts";
