/**
 * The table of rooms: the roles, who may import whom, and which room alone may hold which sharp tool. The lint plugin in
 * `room_rule.ts` enforces it; `src/std/` is no room but the typed face of `@std/…`.
 * @module
 */
/** Role entry in the source → its bundle in the executable. */
export const ROLES: Readonly<Record<string, string>> = {
  "main.ts": "main.js",
  "src/cli/main.ts": "cli.js",
  "src/agent/session_main.ts": "session.js",
  "src/guest/cell_main.ts": "cell.js",
  "src/guest/worker_main.ts": "worker.js",
  "src/agent/thread/loop_main.ts": "loop.js",
  "src/guest/build_main.ts": "build_cell.js",
};

const BELOW_SESSION = [
  "base",
  "manifest",
  "grants",
  "component",
  "protocol",
  "records",
  "hull",
  "http1",
  "egress",
] as const;

/** Room in `src/` → the rooms it may import, each by its `mod.ts`. */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  manifest: ["base"],
  grants: ["base", "manifest"],
  component: ["base"],
  protocol: ["base", "grants"],
  records: ["base"],
  hull: ["base"],
  http1: [],
  egress: ["base", "grants", "http1"],
  wasi: ["base", "grants"],
  guest: ["base", "protocol", "component", "wasi", "hull", "grants"],
  supervisor: ["base", "protocol"],
  door: ["base", "records", "http1"],
  session: [...BELOW_SESSION, "supervisor", "door"],
  delegation: ["base", "manifest", "grants", "records", "protocol", "supervisor", "session", "door"],
  agent: ["base", "manifest", "grants", "component", "protocol", "records", "door", "session"],
  package: ["base", "manifest"],
  cli: [...BELOW_SESSION, "supervisor", "session", "delegation", "door", "package"],
};

/** Files that `main.ts` loads, one per role; beside it only their own room may. */
export const ROLE_ENTRIES: readonly string[] = Object.keys(ROLES).filter((entry) => entry !== "main.ts");

/** A room's further doors → the rooms that may enter by them: too heavy, or for too few, to stand behind its `mod.ts`. */
export const SIDE_DOORS: Readonly<Record<string, readonly string[]>> = {
  "src/component/build.ts": ["guest"],
  "src/protocol/control/mod.ts": ["supervisor", "session", "delegation", "agent", "cli"],
  "src/supervisor/tree/mod.ts": ["session", "delegation", "cli"],
  "src/protocol/tree/mod.ts": ["supervisor", "session", "delegation", "cli"],
  "src/supervisor/tree_socket/mod.ts": ["session", "delegation", "cli"],
  "src/session/run_session.ts": ["agent"],
  "src/session/role.ts": ["agent"],
  "src/door/client/mod.ts": ["cli", "agent"],
  "src/door/judge_notice.ts": ["delegation"],
  "src/session/tools/mod.ts": ["agent", "cli"],
  "src/wasi/network.ts": ["guest"],
  "src/wasi/delegation.ts": ["guest"],
};

/** Bundles that are the entry of a thread: it can read no file, and is posted its code. */
export const THREADS: readonly string[] = ["worker.js", "loop.js"];

/** Global or member that only the room named, or the rooms, may use; `null` is none. */
export const SHARP_GLOBALS: Readonly<Record<string, string | readonly string[] | null>> = {
  "eval": null,
  "Function": "component",
  "Worker": ["guest", "agent"],
  "Deno.Command": "supervisor",
  "Deno.dlopen": "hull",
  "Deno.UnsafeCallback": "hull",
  "Deno.UnsafeFnPointer": "hull",
  "Deno.UnsafePointer": "hull",
  "Deno.UnsafePointerView": "hull",
};

/** Modules that only the room named may import; `null` is none: they start code or need packages of the workshop. */
export const SHARP_MODULES: Readonly<Record<string, string | null>> = {
  "node:child_process": null,
  "node:cluster": null,
  "node:worker_threads": null,
  "node:vm": "component",
  "@bytecodealliance/jco": null,
  "componentize-qjs": null,
  "esbuild": null,
  "fast-check": null,
};

/** Names that say nothing of what a file or folder holds. */
export const EMPTY_NAMES: ReadonlySet<string> = new Set([
  ...["util", "utils", "common", "helper", "helpers", "misc", "shared", "types"],
]);
