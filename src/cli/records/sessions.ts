import { CapsuleError, closest, printableJson, printableLine } from "../../base/mod.ts";
import { describeSession, type ListedSession, listSessions, markCrashed, openHome } from "../../records/mod.ts";
import type { Arguments } from "../options/arguments.ts";
import { alignColumns } from "../text/columns.ts";
import { type Paint, paintFor } from "../text/paint.ts";
import { timeSpan, utcTime } from "../text/quantities.ts";
import type { Verb } from "../verb.ts";

const DEFAULT_LIMIT = 20;
const STATUSES = ["completed", "failed", "refused", "deadline", "cancelled", "crashed", "running", "unreadable"];

/** `boll sessions`: what ran and how it ended, newest first; crashed sessions are marked before. */
export const verb: Verb = {
  name: "sessions",
  summary: "List what ran, newest first",
  usage: "sessions [options]",
  operands: { min: 0, max: 0, names: [] },
  options: [
    { name: "status", value: "STATUS", summary: "Only those that ended so, or are running" },
    { name: "limit", value: "N", summary: `At most N (default ${DEFAULT_LIMIT}), or all` },
    { name: "json", summary: "Print one JSON object a line" },
  ],
  notes: [
    "STATUS is completed, failed, refused, deadline, cancelled, crashed, running or",
    "unreadable. Times are UTC.",
    "",
    "  boll sessions --status crashed --limit all",
  ],
  run(args, context) {
    const rules = readRules(args);
    const home = openHome(context.readVariable);
    const ids = listSessions(home).reverse();
    const found: ListedSession[] = [];
    let looked = 0;
    for (const id of ids) {
      if (found.length >= rules.limit) break;
      looked++;
      const session = describeSession(home, id);
      if (rules.status === undefined || session.status === rules.status) found.push(session);
    }
    // Looking at a session marks it; the others are marked all the same.
    markCrashed(home, { ids: ids.slice(looked) });
    if (args.has("json")) {
      context.stdout.write(found.map((session) => printableJson(session) + "\n").join(""));
      return Promise.resolve(0);
    }
    context.stdout.write(table(found, paintFor(context.stdout, context)));
    if (looked < ids.length) context.stdout.write(`Older sessions are not shown; --limit all shows every one.\n`);
    return Promise.resolve(0);
  },
};

interface ListRules {
  readonly limit: number;
  readonly status: string | undefined;
}

function readRules(args: Arguments): ListRules {
  const limit = args.value("limit") ?? String(DEFAULT_LIMIT);
  if (limit !== "all" && !/^[1-9]\d{0,8}$/.test(limit)) {
    throw new CapsuleError(
      "usage.bad_value",
      `Read --limit: found "${printableLine(limit, 40)}", wanted 1 or more, or all`,
    );
  }
  const status = args.value("status");
  if (status !== undefined && !STATUSES.includes(status)) {
    const near = closest(status, STATUSES);
    const hint = near === undefined ? `wanted one of ${STATUSES.join(", ")}` : `did you mean ${near}?`;
    throw new CapsuleError("usage.bad_value", `Read --status: found "${printableLine(status, 40)}", ${hint}`);
  }
  return { limit: limit === "all" ? Infinity : Number(limit), status };
}

function table(sessions: readonly ListedSession[], paint: Paint): string {
  if (sessions.length === 0) return "No sessions.\n";
  const head = ["SESSION", "STARTED", "CAPSULE", "STATUS", "ENDED BY", "DURATION"];
  const [first, ...rows] = alignColumns([head, ...sessions.map(cells)]);
  const line = (row: readonly string[], paintStatus: (text: string) => string) =>
    row.map((cell, column) => column === 3 ? paintStatus(cell) : cell).join("  ").trimEnd() + "\n";
  const body = sessions.map(({ status }, index) => line(rows[index]!, colourOf(status, paint)));
  return paint.dim(line(first!, (text) => text)) + body.join("");
}

function cells(session: ListedSession): string[] {
  const ended = "ended_by" in session ? session : undefined;
  return [
    session.session_id,
    utcTime(session.started_ms),
    printableLine(session.capsule, 40) || "?",
    printableLine(session.status, 20),
    ended === undefined ? "" : printableLine(ended.ended_by, 20),
    // Nobody was there to count how long a crashed session ran.
    ended === undefined || (ended.status === "crashed" && ended.duration_ms === 0) ? "" : timeSpan(ended.duration_ms),
  ];
}

function colourOf(status: string, paint: Paint): (text: string) => string {
  if (status === "completed") return paint.good;
  return status === "running" ? paint.bold : paint.bad;
}
