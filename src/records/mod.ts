/**
 * What boll remembers on disk. In: an environment, ids, events and the frozen plan as plain values. Out: boll's home,
 * session places with their lock, the trace as lines, and whatever of it can still be read after a crash. The room
 * writes only below the home and the private runtime folder, never follows a link there, and knows nothing of
 * capsules, cells or terminals.
 * @module
 */
export * from "./home.ts";
export * from "./places.ts";
export * from "./crashed.ts";
export * from "./runtime_folder.ts";
export * from "./session_lock.ts";
export * from "./sessions.ts";
export * from "./trace_events.ts";
export * from "./trace_reader.ts";
export * from "./trace_writer.ts";
