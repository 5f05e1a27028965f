import { boundedTail, type EndedBy, endedWell, MAX_DETAIL_BYTES } from "../../base/mod.ts";
import type { Completion } from "../../records/mod.ts";
import type { ChildEnding } from "../../supervisor/tree/mod.ts";

/** What the launcher knows of a child from having started it. */
export type Launched = Pick<
  Completion,
  "delegation_id" | "session_id" | "capsule_name" | "capsule_version" | "workdir"
>;

/** What is known once the child is reaped. */
export interface EndingSources {
  readonly ending: Pick<ChildEnding, "status" | "ended_by" | "detail" | "tail" | "duration_ms">;
  /** Of these ids, if there is one. */
  readonly record?: Completion;
}

/** The parent ended it on purpose, and its task is over: a verdict for the supervisor's `stop`. */
export const ENDED_BY_PARENT = "the parent ended this delegation";
const ENDED_AT_DEADLINE = "ended at the delegation deadline";

const MAX_TAIL_LINES = 20;

/** Endings that only a supervisor decides; each comes with a verdict in words. */
const VERDICTS: readonly EndedBy[] = [
  "terminated",
  "interrupted",
  "deadline",
  "stuck",
  "not_ready",
  "protocol_broken",
];

/**
 * How a delegation ended, where its sources differ: the launcher's own reason; the child's record, if
 * it is of this launch; the child's last frame; else it crashed. Who it was is never the child's word.
 */
export function decideCompletion(launched: Launched, { ending, record }: EndingSources): Completion {
  const { delegation_id, session_id, capsule_name, capsule_version, workdir } = launched;
  const who = { delegation_id, session_id, capsule_name, capsule_version, workdir };
  const verdict = verdictOf(ending);
  const { duration_ms } = ending;
  const byLauncher = { ...who, duration_ms, reported_by: "launcher", delivered: false } as const;
  if (verdict !== undefined) return { ...byLauncher, status: "terminated", detail: verdict };
  if (record !== undefined && isTheirs(record, launched)) {
    return { ...record, ...who };
  }
  if (isOwnWord(ending)) return { ...byLauncher, status: endedWell(ending.status) ? "ok" : "error" };
  return { ...byLauncher, status: "crashed", detail: crashDetail(ending) };
}

/** Before the launcher has written, a record can only be the child's: one in the launcher's name is forged. */
function isTheirs(record: Completion, { delegation_id, session_id }: Launched): boolean {
  return record.delegation_id === delegation_id && record.session_id === session_id && record.reported_by === "child";
}

function verdictOf({ ended_by, detail }: EndingSources["ending"]): string | undefined {
  if (detail === undefined || !VERDICTS.includes(ended_by)) return undefined;
  return ended_by === "deadline" ? ENDED_AT_DEADLINE : detail;
}

/** A status that came in a frame has no detail but that of a `failed`, which the child's side ended itself. */
function isOwnWord({ ended_by, detail }: EndingSources["ending"]): boolean {
  return detail === undefined || ended_by === "guest";
}

/** How the process went, and the last it said: the end of the tail counts for more than its beginning. */
function crashDetail({ detail = "", tail }: EndingSources["ending"]): string {
  const lines = tail.trimEnd().split("\n").slice(-MAX_TAIL_LINES).join("\n");
  if (lines === "") return detail;
  const room = MAX_DETAIL_BYTES - new TextEncoder().encode(`${detail}\n`).length;
  return `${detail}\n${boundedTail(lines, Math.max(0, room))}`;
}
