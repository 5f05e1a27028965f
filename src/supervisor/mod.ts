/**
 * Launch spec → living child → how it exited. Knows processes and frames; knows nothing of capsules, grants or
 * records. Spawns from the thread that calls it: the death signal of a child is tied to that thread.
 * @module
 */
export { type CellChannel, CellProcess, type ChildExit, MAX_QUEUED_BYTES } from "./cell_process.ts";
export { isOwnProcess } from "./own_processes.ts";
export * from "./spawn_cell.ts";
