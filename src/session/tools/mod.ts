/**
 * Components that are tools of an agent: each in the cell of its grants, called by name. A side door of the room for who
 * calls them. Decides no grant but their intersections, builds nothing, and shows no text to a model: what a tool said
 * goes out as it is.
 * @module
 */
export type { ComponentTool } from "./describe_tool.ts";
export * from "./tool_cells.ts";
export type { ToolFailure, ToolResult } from "./tool_result.ts";
