import { boundedText } from "../bounded.ts";
import { markIfCrashed } from "./crashed.ts";
import type { Home } from "../folders/home.ts";
import { type SessionPaths, sessionPaths } from "../places.ts";
import { findSessionBegin } from "./session_begin.ts";
import { readSummary, type SessionSummary, startedMsOf } from "./summary.ts";

/** A session that has no ending: it runs, or what lies there cannot be read as a session. */
export interface OpenSession extends Pick<SessionSummary, "session_id" | "started_ms" | "capsule"> {
  readonly status: "running" | "unreadable";
}

/** What a list shows of a session. */
export type ListedSession = SessionSummary | OpenSession;

/** Looks at one session; one that cannot be read is listed as that, and hides no other. Marks it when it crashed. */
export function describeSession(home: Pick<Home, "sessions">, id: string): ListedSession {
  const paths = sessionPaths(home, id);
  const known = readSummary(paths);
  if (known !== undefined) return known;
  const open = { session_id: id, started_ms: startedMsOf(id), capsule: "" };
  try {
    const state = markIfCrashed(paths);
    if (state !== "running") return readSummary(paths) ?? { ...open, status: "unreadable" };
    return { ...open, ...beginOf(paths), status: "running" };
  } catch {
    return { ...open, status: "unreadable" };
  }
}

/** What is known so far of a running session. */
function beginOf(paths: SessionPaths): Partial<Pick<OpenSession, "started_ms" | "capsule">> {
  try {
    const start = findSessionBegin(paths);
    const { name } = (start?.["capsule"] ?? {}) as { readonly name?: unknown };
    return start === undefined || typeof name !== "string"
      ? {}
      : { started_ms: start.ts, capsule: boundedText(name, 200) };
  } catch {
    return {};
  }
}
