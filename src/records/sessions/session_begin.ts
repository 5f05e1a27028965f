import { errorCodeOf } from "../../base/mod.ts";
import { openRecord, readAt } from "../open_record.ts";
import type { SessionPaths } from "../places.ts";
import { startedMsOf } from "./summary.ts";
import type { TraceEvent } from "../trace/trace_events.ts";
import { findSessionStart } from "../trace/trace_reader.ts";

/** A plan larger than this is junk. */
const MAX_PLAN_BYTES = 1024 * 1024;

/**
 * Who a session is: its `session_start`; where it never came to say that, what its plan, which was written before it had a
 * process, would have let it say. Foreign data.
 * @throws `records.unreadable`
 */
export function findSessionBegin(paths: Pick<SessionPaths, "id" | "trace" | "plan">): TraceEvent | undefined {
  return startOf(paths.trace) ?? plannedStart(paths);
}

function startOf(trace: string): TraceEvent | undefined {
  try {
    return findSessionStart(trace);
  } catch (error) {
    // There is no trace yet.
    if (errorCodeOf(error) === "records.not_found") return undefined;
    throw error;
  }
}

function plannedStart({ id, plan: path }: Pick<SessionPaths, "id" | "plan">): TraceEvent | undefined {
  try {
    using file = openRecord(path);
    const bytes = readAt(file, 0, Math.min(file.size, MAX_PLAN_BYTES) + 1);
    if (bytes.length > MAX_PLAN_BYTES) return undefined;
    const { session_id, capsule, grants, session } = JSON.parse(new TextDecoder().decode(bytes));
    if (session_id !== id) return undefined;
    const { spawned_by, delegation_id } = session ?? {};
    return { event: "session_start", ts: startedMsOf(id), session_id: id, capsule, grants, spawned_by, delegation_id };
  } catch {
    return undefined;
  }
}
