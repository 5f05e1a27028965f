import type { Verb } from "./verb.ts";

/** One verb in the overview, and how to load the rest of it: a verb that is not called is never loaded. */
export interface VerbEntry {
  readonly name: string;
  readonly summary: string;
  load(): Promise<{ readonly verb: Verb }>;
}

/** All verbs, in the overview's order. Each import is literal, so that a bundle can hold it. */
export const VERBS: readonly VerbEntry[] = [
  { name: "run", summary: "Run a capsule behind its walls", load: () => import("./run/run.ts") },
  { name: "chat", summary: "Talk to an agent", load: () => import("./chat/chat.ts") },
  { name: "serve", summary: "Serve a capsule to other agents (A2A)", load: () => import("./serve/serve.ts") },
  { name: "send", summary: "Send a message to an A2A agent", load: () => import("./door/send.ts") },
  { name: "watch", summary: "Follow a task of an A2A agent", load: () => import("./door/watch.ts") },
  { name: "cancel", summary: "Cancel a task of an A2A agent", load: () => import("./door/cancel.ts") },
  { name: "token", summary: "Print, give and revoke tokens of a door", load: () => import("./door/token.ts") },
  { name: "serve-http", summary: "Serve HTTP with a capsule", load: () => import("./serve/serve_http.ts") },
  { name: "tool", summary: "Call a tool of an agent by hand", load: () => import("./tools/tool.ts") },
  { name: "check", summary: "Check a capsule's manifest and files", load: () => import("./workspace/check.ts") },
  { name: "explain", summary: "Show what a capsule may do, wall by wall", load: () => import("./explain/explain.ts") },
  { name: "trace", summary: "Show what a session did", load: () => import("./trace/trace.ts") },
  { name: "ps", summary: "List what runs now", load: () => import("./running/ps.ts") },
  { name: "stop", summary: "End what runs", load: () => import("./running/stop.ts") },
  { name: "pause", summary: "Hold what runs", load: () => import("./running/pause.ts") },
  { name: "resume", summary: "Let it go on", load: () => import("./running/resume.ts") },
  { name: "sessions", summary: "List what ran, newest first", load: () => import("./records/sessions.ts") },
  { name: "logs", summary: "Print what a session logged", load: () => import("./records/logs.ts") },
  { name: "rm", summary: "Remove ended sessions", load: () => import("./records/rm.ts") },
  { name: "gc", summary: "Remove old sessions and leftovers", load: () => import("./records/gc.ts") },
  { name: "init", summary: "Make a workspace that trusts its capsules", load: () => import("./workspace/init.ts") },
  { name: "lock", summary: "Lock the capsules of a workspace by digest", load: () => import("./workspace/lock.ts") },
  { name: "doctor", summary: "Show which walls this host has", load: () => import("./about/doctor.ts") },
  { name: "version", summary: "Show this build's versions", load: () => import("./about/version.ts") },
  { name: "help", summary: "Show help for a verb", load: () => import("./about/help.ts") },
];
