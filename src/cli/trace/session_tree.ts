import { join } from "@std/path";
import { isId, printableJson, printableLine } from "../../base/mod.ts";
import {
  type Completion,
  describeSession,
  findSessionBegin,
  findSessionEnd,
  type Home,
  type ListedSession,
  listSessions,
  readCompletion,
  sessionPaths,
  startedMsOf,
  type TraceEvent,
} from "../../records/mod.ts";
import type { Paint } from "../text/paint.ts";
import { byteSize, timeSpan } from "../text/quantities.ts";

/** One session with all that it delegated to, as the records have it. */
export interface SessionTree {
  readonly session: ListedSession;
  /** Its first event: foreign data. */
  readonly start: TraceEvent | undefined;
  /** How its launcher recorded it. */
  readonly delegation?: { readonly id: string; readonly status?: string };
  /** Why it did not end well, as its launcher or it itself said. */
  readonly cause?: string;
  /** Of its answer, when it wrote one. */
  readonly resultBytes?: number;
  readonly children: readonly SessionTree[];
}

/** How long after its root's end a session of the tree can have begun, ms: clocks are read twice. */
const SLACK_MS = 1_000;

/**
 * The session and all below it. Only sessions that began while it ran are looked at, however many there are; one that
 * cannot be read, or has not said yet where it came from, hides no other.
 */
export function readSessionTree(home: Home, id: string): SessionTree {
  const root = describeSession(home, id);
  const isOver = "duration_ms" in root && root.status !== "crashed";
  const untilMs = isOver ? root.started_ms + root.duration_ms + SLACK_MS : Infinity;
  const below = new Map<string, TraceEvent[]>();
  for (const other of listSessions(home)) {
    if (other <= id || startedMsOf(other) > untilMs) continue;
    const start = startOf(home, other);
    const parent = start?.["spawned_by"];
    if (start === undefined || typeof parent !== "string") continue;
    below.set(parent, [...below.get(parent) ?? [], { ...start, session_id: other }]);
  }
  return treeOf(home, root, startOf(home, id), below);
}

/** Where a session's tree begins: the one that started it, and so on up, as far as the records go. */
export function rootOf(home: Home, id: string): string {
  for (let at = id;;) {
    const parent = startOf(home, at)?.["spawned_by"];
    // A session is older than what it started: whatever a record says, this ends.
    if (typeof parent !== "string" || !isId(parent, "ses") || parent >= at) return at;
    if (startOf(home, parent) === undefined) return at;
    at = parent;
  }
}

/** A session is older than what it started: ids say so, and no circle is followed. */
function treeOf(
  home: Home,
  session: ListedSession,
  start: TraceEvent | undefined,
  below: ReadonlyMap<string, readonly TraceEvent[]>,
): SessionTree {
  const id = session.session_id;
  const paths = sessionPaths(home, id);
  const delegation = start?.["delegation_id"];
  const resultBytes = sizeOf(join(paths.out, "result.txt"));
  const completion = typeof delegation !== "string"
    ? undefined
    : readCompletion(paths, { delegation_id: delegation, session_id: id });
  const cause = completion?.detail ?? causeOf(paths.trace);
  return {
    session,
    start,
    ...(typeof delegation === "string" ? { delegation: delegationOf(delegation, completion) } : {}),
    ...(cause === undefined ? {} : { cause }),
    ...(resultBytes === undefined ? {} : { resultBytes }),
    children: (below.get(id) ?? []).filter((child) => child.session_id > id).map((child) =>
      treeOf(home, describeSession(home, child.session_id), child, below)
    ),
  };
}

function delegationOf(id: string, completion: Completion | undefined) {
  return { id, ...(completion === undefined ? {} : { status: completion.status }) };
}

function causeOf(trace: string): string | undefined {
  try {
    const end = findSessionEnd(trace);
    const detail = end?.["status"] === "completed" ? undefined : end?.["detail"];
    return typeof detail === "string" && detail !== "" ? detail : undefined;
  } catch {
    return undefined;
  }
}

function startOf(home: Home, id: string): TraceEvent | undefined {
  try {
    return findSessionBegin(sessionPaths(home, id));
  } catch {
    return undefined;
  }
}

function sizeOf(path: string): number | undefined {
  try {
    const { isFile, size } = Deno.lstatSync(path);
    return isFile ? size : undefined;
  } catch {
    return undefined;
  }
}

/** The tree for a person: a line for each session, one for why it did not end well, and one for what it was granted. */
export function drawSessionTree(tree: SessionTree, paint: Paint): string {
  return draw(tree, paint, "", "");
}

function draw(tree: SessionTree, paint: Paint, first: string, rest: string): string {
  const last = tree.children.length - 1;
  const children = tree.children.map((child, index) =>
    index === last ? draw(child, paint, `${rest}└─ `, `${rest}   `) : draw(child, paint, `${rest}├─ `, `${rest}│  `)
  );
  const bar = tree.children.length === 0 ? "   " : "│  ";
  const cause = tree.cause === undefined ? "" : `${rest}${bar}${text(tree.cause)}\n`;
  return `${first}${headOf(tree, paint)}\n${cause}${rest}${bar}${paint.dim(grantsOf(tree))}\n${children.join("")}`;
}

function headOf({ session, start, delegation, resultBytes }: SessionTree, paint: Paint): string {
  const { name, version } = fields(start?.["capsule"]);
  const status = delegation?.status ?? session.status;
  const paintStatus = status === "completed" || status === "ok"
    ? paint.good
    : status === "running"
    ? paint.bold
    : paint.bad;
  return [
    [name ?? session.capsule, version].filter((part) => part !== undefined && part !== "").map(text).join(" ") || "?",
    paintStatus(text(status)),
    ...("duration_ms" in session && session.duration_ms > 0 ? [timeSpan(session.duration_ms)] : []),
    ...(resultBytes === undefined ? [] : [`answered ${byteSize(resultBytes)}`]),
    session.session_id,
  ].join("  ");
}

function grantsOf({ start }: SessionTree): string {
  const { fs, net, env, spawn } = fields(start?.["grants"]);
  const { work, mounts } = fields(fs);
  const listed = (word: string, value: unknown) =>
    list(value).length === 0 ? [] : [`${word} ${list(value).map(text).join(", ")}`];
  const parts = [
    ...(work === undefined ? [] : [`/workdir ${text(work)}`]),
    ...list(mounts).map(fields).map(({ guest, mode }) => `${text(guest)} ${text(mode)}`),
    ...listed("net", net),
    ...listed("env", env),
    ...listed("spawn", spawn),
  ];
  return parts.join("; ") || "no folder, no network";
}

/** The same for a program: one object a line, parents before their children. */
export function sessionTreeLines(tree: SessionTree): string {
  const { session, start, delegation, resultBytes, cause } = tree;
  const { spawned_by, grants } = fields(start);
  const line = printableJson({
    ...session,
    ...(spawned_by === undefined ? {} : { spawned_by }),
    ...(delegation === undefined ? {} : { delegation_id: delegation.id, delegation_status: delegation.status }),
    ...(resultBytes === undefined ? {} : { result_bytes: resultBytes }),
    ...(cause === undefined ? {} : { detail: cause }),
    ...(grants === undefined ? {} : { grants }),
  });
  return `${line}\n${tree.children.map(sessionTreeLines).join("")}`;
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Record<string, unknown> : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return printableLine(typeof value === "string" ? value : JSON.stringify(value) ?? "?", 200);
}
