/**
 * Bytes ⇄ frames ⇄ typed messages between a parent and its cells. Knows no socket, no
 * process and no clock; every field of every message is checked here and nowhere else.
 * @module
 */
export * from "./cell_load.ts";
export * from "./cell_messages.ts";
export * from "./delegation_messages.ts";
export * from "./fields.ts";
export * from "./frame.ts";
export * from "./http_messages.ts";
export * from "./stream_window.ts";
export * from "./tool_messages.ts";
export { MAX_FRAME_VALUES } from "./value_count.ts";
