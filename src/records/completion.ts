import { isAbsolute } from "@std/path";
import { boundedHead, CapsuleError, writeFileWhole } from "../base/mod.ts";
import { unwritable } from "./folders/home.ts";
import { openRecord, readAt } from "./open_record.ts";
import { requireOwnFolders } from "./folders/own_folders.ts";
import type { SessionPaths } from "./places.ts";

/** How a delegated session ended: `ok` and `error` are its own word, the others its launcher's. */
export type CompletionStatus = typeof STATUSES[number];

const STATUSES = ["ok", "error", "crashed", "terminated"] as const;
const CHILD_STATUSES: readonly CompletionStatus[] = ["ok", "error"];

/** The record of a delegated session's ending, `records/completion.json`: all of it a runtime's words. */
export interface Completion {
  readonly delegation_id: string;
  readonly capsule_name: string;
  /** Empty for a bare component. */
  readonly capsule_version: string;
  readonly session_id: string;
  readonly status: CompletionStatus;
  /** Absolute. For readers of the record: whoever delegated never opens it. */
  readonly result_path?: string;
  readonly workdir: string;
  readonly duration_ms: number;
  /** Of `crashed` and `terminated` alone; at most 2000 bytes. */
  readonly detail?: string;
  readonly reported_by: "child" | "launcher";
  /** Did the notice reach the parent's door? */
  readonly delivered: boolean;
  /** Why not; at most 2000 bytes. */
  readonly delivery_error?: string;
}

/** Whose ending a record must be. */
export type CompletionIds = Pick<Completion, "delegation_id" | "session_id">;

/** A record larger than this is junk. */
export const MAX_COMPLETION_BYTES = 256 * 1024;

/**
 * Writes the record, whole: absent fields are left out, long ones cut. Not through a link that a session put in place of
 * its folders.
 * @throws `home.unwritable`
 */
export function writeCompletion({ completion: path }: Pick<SessionPaths, "completion">, completion: Completion): void {
  try {
    requireOwnFolders(path);
    writeFileWhole(path, JSON.stringify(inOrder(completion), null, 2) + "\n");
  } catch (error) {
    throw error instanceof CapsuleError ? error : unwritable(path, error);
  }
}

/**
 * The record of the session and delegation named, or nothing: a link, a pipe, junk, a huge file, another's record, or a
 * child's word that only a launcher may say reads as no record.
 */
export function readCompletion(
  { completion: path }: Pick<SessionPaths, "completion">,
  ids: CompletionIds,
): Completion | undefined {
  try {
    using file = openRecord(path);
    const bytes = readAt(file, 0, Math.min(file.size, MAX_COMPLETION_BYTES) + 1);
    if (bytes.length > MAX_COMPLETION_BYTES) return undefined;
    const found = decode(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
    const isTheirs = found?.delegation_id === ids.delegation_id && found.session_id === ids.session_id;
    return isTheirs ? found : undefined;
  } catch {
    return undefined;
  }
}

function decode(found: unknown): Completion | undefined {
  if (typeof found !== "object" || found === null) return undefined;
  const fields = found as Completion;
  const { result_path, workdir, status, reported_by, duration_ms, delivered, detail, delivery_error } = fields;
  const isRecord =
    [fields.delegation_id, fields.capsule_name, fields.capsule_version, fields.session_id].every(isText) &&
    STATUSES.includes(status) && isPath(workdir) && (result_path === undefined || isPath(result_path)) &&
    Number.isSafeInteger(duration_ms) && duration_ms >= 0 && typeof delivered === "boolean" &&
    [detail, delivery_error].every((text) => text === undefined || isText(text)) &&
    (reported_by === "launcher" || (reported_by === "child" && CHILD_STATUSES.includes(status)));
  return isRecord ? inOrder(fields) : undefined;
}

function inOrder(completion: Completion): Completion {
  const { result_path, status, detail, delivered, delivery_error } = completion;
  const hasDetail = detail !== undefined && !CHILD_STATUSES.includes(status);
  return {
    delegation_id: completion.delegation_id,
    capsule_name: completion.capsule_name,
    capsule_version: completion.capsule_version,
    session_id: completion.session_id,
    status,
    ...(result_path === undefined ? {} : { result_path }),
    workdir: completion.workdir,
    duration_ms: completion.duration_ms,
    ...(hasDetail ? { detail: boundedHead(detail) } : {}),
    reported_by: completion.reported_by,
    delivered,
    ...(delivered || delivery_error === undefined ? {} : { delivery_error: boundedHead(delivery_error) }),
  };
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isPath(value: unknown): boolean {
  return typeof value === "string" && isAbsolute(value) && !value.includes("\0");
}
