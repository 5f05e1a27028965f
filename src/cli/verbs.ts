import type { Verb } from "./verb.ts";

/** One verb in the overview, and how to load the rest of it: a verb that is not called is never loaded. */
export interface VerbEntry {
  readonly name: string;
  readonly summary: string;
  load(): Promise<{ readonly verb: Verb }>;
}

/** All verbs, in the overview's order. Each import is literal, so that a bundle can hold it. */
export const VERBS: readonly VerbEntry[] = [
  { name: "run", summary: "Run a capsule behind its walls", load: () => import("./run.ts") },
  { name: "chat", summary: "Talk to an agent", load: () => import("./chat.ts") },
  { name: "serve", summary: "Serve a capsule to other agents (A2A)", load: () => import("./serve.ts") },
  { name: "send", summary: "Send a message to an A2A agent", load: () => import("./send.ts") },
  { name: "watch", summary: "Follow a task of an A2A agent", load: () => import("./watch.ts") },
  { name: "cancel", summary: "Cancel a task of an A2A agent", load: () => import("./cancel.ts") },
  { name: "token", summary: "Print, give and revoke tokens of a door", load: () => import("./token.ts") },
  { name: "serve-http", summary: "Serve HTTP with a capsule", load: () => import("./serve_http.ts") },
  { name: "tool", summary: "Call a tool of an agent by hand", load: () => import("./tool.ts") },
  { name: "check", summary: "Check a capsule's manifest and files", load: () => import("./check.ts") },
  { name: "explain", summary: "Show what a capsule may do, wall by wall", load: () => import("./explain.ts") },
  { name: "trace", summary: "Show what a session did", load: () => import("./trace.ts") },
  { name: "ps", summary: "List what runs now", load: () => import("./ps.ts") },
  { name: "stop", summary: "End what runs", load: () => import("./stop.ts") },
  { name: "pause", summary: "Hold what runs", load: () => import("./pause.ts") },
  { name: "resume", summary: "Let it go on", load: () => import("./resume.ts") },
  { name: "sessions", summary: "List what ran, newest first", load: () => import("./sessions.ts") },
  { name: "logs", summary: "Print what a session logged", load: () => import("./logs.ts") },
  { name: "rm", summary: "Remove ended sessions", load: () => import("./rm.ts") },
  { name: "gc", summary: "Remove old sessions and leftovers", load: () => import("./gc.ts") },
  { name: "init", summary: "Make a workspace that trusts its capsules", load: () => import("./init.ts") },
  { name: "lock", summary: "Lock the capsules of a workspace by digest", load: () => import("./lock.ts") },
  { name: "doctor", summary: "Show which walls this host has", load: () => import("./doctor.ts") },
  { name: "version", summary: "Show this build's versions", load: () => import("./version.ts") },
  { name: "help", summary: "Show help for a verb", load: () => import("./help.ts") },
];
