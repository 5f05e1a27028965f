/**
 * What boll remembers on disk. In: an environment, ids, events and the frozen plan as plain values. Out: boll's home,
 * session places with their lock, the trace as lines, and whatever of it can still be read after a crash. The room
 * writes only below the home and the private runtime folder, never follows a link there, and knows nothing of
 * capsules, cells or terminals. What it removes is an owner's who is gone: locks say so, not the clock.
 * @module
 */
export * from "./completion.ts";
export * from "./control_pointer.ts";
export { type BuildTurn, ownFolder, tryTakeBuildTurn } from "./folders/build_turn.ts";
export * from "./sessions/crashed.ts";
export * from "./doors/door_folder.ts";
export * from "./folders/folder_lock.ts";
export * from "./garbage/garbage.ts";
export { holdCacheEntry } from "./garbage/garbage_cache.ts";
export * from "./folders/home.ts";
export * from "./logs.ts";
export * from "./places.ts";
export * from "./folders/private_folder.ts";
export * from "./garbage/removal.ts";
export * from "./garbage/remove_trees.ts";
export * from "./result_file.ts";
export * from "./folders/runtime_folder.ts";
export * from "./sessions/session_begin.ts";
export * from "./doors/kept_answers.ts";
export * from "./doors/services.ts";
export * from "./sessions/session_list.ts";
export * from "./sessions/session_lock.ts";
export * from "./sessions/sessions.ts";
export * from "./sessions/summary.ts";
export type { SweepReport } from "./garbage/sweep.ts";
export * from "./trace/trace_events.ts";
export * from "./trace/trace_excerpt.ts";
export * from "./trace/trace_follower.ts";
export * from "./trace/trace_reader.ts";
export * from "./trace/trace_writer.ts";
