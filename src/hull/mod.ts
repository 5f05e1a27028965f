/**
 * Wall 4 and the kernel part of wall 3. In: {@link HullRules} and {@link ProcessLimits}. Out: this process, confined
 * for good, or a {@link HullProbe} of what the host could do. The room knows no capsule, grant or session; it opens libc
 * only here and leaves nothing of it reachable after `close()`.
 * @module
 */
export type { TerminalDescriptor } from "./descriptors.ts";
export { PinnedFolder } from "./pinned_folder.ts";
export { type HullProbe, probeHull } from "./probe.ts";
export { type HullReport, ProcessHull } from "./process_hull.ts";
export { ProcessTree } from "./process_tree.ts";
