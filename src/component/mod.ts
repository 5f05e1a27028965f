/**
 * Component bytes → described, checked, transpiled, cached, compiled. This door is light: it holds what every run
 * needs. `build.ts`, which parses foreign bytes and loads the transpiler, is imported by the build cell alone and by
 * its path; what it hands over is data from an enemy and enters only through {@link adoptBuild}. May not start a
 * process, decide a grant, or touch a file outside the folders it is given.
 * @module
 */
export * from "./async_list.ts";
export * from "./cache.ts";
export * from "./description.ts";
export * from "./load.ts";
export * from "./memory_watch.ts";
