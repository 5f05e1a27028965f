/**
 * Task → answer: the model, the loop over it, and the tools that it may call. It runs below a session; a guest and a
 * process are never its own business.
 * @module
 */
export * from "./model/mod.ts";
