/**
 * What every room stands on: errors with codes, ids, files written whole, text made safe for a terminal, and the
 * plain types of the walls. Imports nothing of the project.
 * @module
 */
export * from "./atomic_file.ts";
export * from "./bounded_text.ts";
export * from "./closest.ts";
export * from "./errors.ts";
export * from "./fence.ts";
export * from "./host_failure.ts";
export * from "./ids.ts";
export * from "./printable.ts";
export * from "./rules.ts";
export * from "./shell_word.ts";
export * from "./status.ts";
export * from "./worker_permissions.ts";
