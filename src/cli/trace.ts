import { CapsuleError, closest, printableJson, printableLine } from "../base/mod.ts";
import {
  findSession,
  markCrashed,
  markIfCrashed,
  openHome,
  readTraceLines,
  type SessionPaths,
  type SessionState,
} from "../records/mod.ts";
import { paintFor } from "./paint.ts";
import { Timeline } from "./timeline.ts";
import type { Context, Verb } from "./verb.ts";

const ACTIONS = ["show"];

/** `boll trace show [SESSION|last]`: what a session did, as a timeline or as the raw lines. */
export const verb: Verb = {
  name: "trace",
  summary: "Show what a session did",
  usage: "trace show [SESSION|last] [options]",
  operands: { min: 0, max: 2, names: ["show", "SESSION"] },
  options: [{ name: "json", summary: "Print the events as they are recorded, one JSON object a line" }],
  notes: [
    "SESSION is an id, a prefix of one that is unique (4 characters or more), or last",
    "(the default).",
    "",
    "  boll trace show",
    "  boll trace show ses_0196b2 --json",
  ],
  run(args, context) {
    const [action, wanted = "last"] = args.operands;
    requireAction(action);
    const home = openHome(context.readVariable);
    markCrashed(home);
    const paths = findSession(home, wanted);
    const state = stateOf(paths);
    if (args.has("json")) showJson(paths, context);
    else showTimeline(paths, state, context);
    return Promise.resolve(0);
  },
};

function requireAction(action: string | undefined): void {
  if (action !== undefined && ACTIONS.includes(action)) return;
  const hint = "see `boll trace --help`";
  if (action === undefined) {
    throw new CapsuleError("usage.missing_argument", `Read trace: found no action, wanted show; ${hint}`);
  }
  const near = closest(action, ACTIONS) === undefined ? "wanted show" : "did you mean show?";
  throw new CapsuleError("usage.bad_value", `Read trace: found "${printableLine(action, 40)}", ${near}; ${hint}`);
}

/** A session that is marked by now is ended; one whose records cannot be marked is shown as it is. */
function stateOf(paths: SessionPaths): SessionState {
  try {
    return markIfCrashed(paths);
  } catch {
    return "crashed";
  }
}

function showJson(paths: SessionPaths, context: Context): void {
  for (const { line, event, problem } of readTraceLines(paths.trace)) {
    if (event !== undefined) context.stdout.write(printableJson(event) + "\n");
    if (problem !== undefined) {
      context.stderr.write(`boll: warning: line ${line} of the trace is skipped: ${problem.reason}\n`);
    }
  }
}

function showTimeline(paths: SessionPaths, state: SessionState, context: Context): void {
  const timeline = new Timeline(paths.id, paths.trace, paintFor(context.stdout, context));
  for (const { event, problem } of readTraceLines(paths.trace)) {
    if (event !== undefined) context.stdout.write(timeline.event(event));
    if (problem !== undefined) context.stdout.write(timeline.problem(problem));
  }
  context.stdout.write(timeline.end(state));
}
