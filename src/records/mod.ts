/**
 * What boll remembers on disk. In: an environment, ids, events and the frozen plan as plain values. Out: boll's home,
 * session places with their lock, the trace as lines, and whatever of it can still be read after a crash. The room
 * writes only below the home and the private runtime folder, never follows a link there, and knows nothing of
 * capsules, cells or terminals. What it removes is an owner's who is gone: locks say so, not the clock.
 * @module
 */
export * from "./completion.ts";
export * from "./control_pointer.ts";
export { type BuildTurn, ownFolder, tryTakeBuildTurn } from "./build_turn.ts";
export * from "./crashed.ts";
export * from "./door_folder.ts";
export * from "./folder_lock.ts";
export * from "./garbage.ts";
export { holdCacheEntry } from "./garbage_cache.ts";
export * from "./home.ts";
export * from "./logs.ts";
export * from "./places.ts";
export * from "./private_folder.ts";
export * from "./removal.ts";
export * from "./remove_trees.ts";
export * from "./result_file.ts";
export * from "./runtime_folder.ts";
export * from "./session_begin.ts";
export * from "./services.ts";
export * from "./session_list.ts";
export * from "./session_lock.ts";
export * from "./sessions.ts";
export * from "./summary.ts";
export type { SweepReport } from "./sweep.ts";
export * from "./trace_events.ts";
export * from "./trace_excerpt.ts";
export * from "./trace_follower.ts";
export * from "./trace_reader.ts";
export * from "./trace_writer.ts";
