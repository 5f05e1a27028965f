import { writeFileWhole } from "../../base/mod.ts";
import { boundedText } from "../bounded.ts";
import type { SessionPaths } from "../places.ts";

/**
 * What a list shows of an ended session: `records/summary.json`. The trace is the record and this only a copy of its
 * first and last event, so that nobody has to open ten thousand traces; one that is missing or junk is made anew.
 */
export interface SessionSummary {
  readonly session_id: string;
  /** Milliseconds since the epoch. */
  readonly started_ms: number;
  /** The capsule's name; empty when the session never said. */
  readonly capsule: string;
  readonly status: string;
  readonly exit_code: number;
  readonly ended_by: string;
  readonly duration_ms: number;
}

const MAX_SUMMARY_BYTES = 8 * 1024;
const MAX_NAME_LENGTH = 200;

/** When a session was made, in milliseconds since the epoch: its id says so (UUID v7). */
export function startedMsOf(id: string): number {
  return Number.parseInt(id.slice(4, 16), 16);
}

/** A summary of foreign fields: each of the right type and bounded, whatever was there. */
export function summaryOf(
  id: string,
  start: { readonly started_ms?: unknown; readonly capsule?: unknown } | undefined,
  end: object,
): SessionSummary {
  const { status, exit_code, ended_by, duration_ms } = end as Readonly<Record<string, unknown>>;
  return {
    session_id: id,
    started_ms: number(start?.started_ms, startedMsOf(id)),
    capsule: text(start?.capsule, ""),
    status: text(status, "?"),
    exit_code: number(exit_code, 1),
    ended_by: text(ended_by, "?"),
    duration_ms: number(duration_ms, 0),
  };
}

/** Writes a summary, whole. Quiet when it cannot: the next reader makes it from the trace. */
export function writeSummary(path: string, summary: SessionSummary): void {
  try {
    writeFileWhole(path, JSON.stringify(summary) + "\n");
  } catch { /* the trace has it all */ }
}

/** The summary of a session, or nothing when there is none that can be used. */
export function readSummary(paths: Pick<SessionPaths, "id" | "summary">): SessionSummary | undefined {
  try {
    const { isFile, size } = Deno.lstatSync(paths.summary);
    if (!isFile || size > MAX_SUMMARY_BYTES) return undefined;
    const found: unknown = JSON.parse(Deno.readTextFileSync(paths.summary));
    if (typeof found !== "object" || found === null) return undefined;
    const fields = found as Record<string, unknown>;
    if (fields["session_id"] !== paths.id || typeof fields["status"] !== "string") return undefined;
    return summaryOf(paths.id, fields, fields);
  } catch {
    return undefined;
  }
}

/** Whether a session has a summary, hence an ending: one look, nothing is opened. */
export function hasSummary(paths: Pick<SessionPaths, "summary">): boolean {
  try {
    return Deno.lstatSync(paths.summary).isFile;
  } catch {
    return false;
  }
}

function text(value: unknown, otherwise: string): string {
  return typeof value === "string" ? boundedText(value, MAX_NAME_LENGTH) : otherwise;
}

function number(value: unknown, otherwise: number): number {
  return typeof value === "number" && Number.isFinite(value) ? value : otherwise;
}
