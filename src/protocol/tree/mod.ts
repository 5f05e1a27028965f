/**
 * The messages on the control socket of a running tree: what a person's tools ask of it, and its answers. One frame each
 * way, as everywhere; both sides check every field of the other.
 * @module
 */
export * from "./tree_messages.ts";
