import { CapsuleError, closest, printableLine } from "../../base/mod.ts";
import {
  findGap,
  findSession,
  followTrace,
  type Home,
  markCrashed,
  markIfCrashed,
  openHome,
  readTraceLines,
  type SessionPaths,
  sessionPaths,
  type SessionState,
  type TraceGap,
} from "../../records/mod.ts";
import type { Arguments } from "../options/arguments.ts";
import { followDescendants, prefixedSink } from "./follow_descendants.ts";
import { paintFor } from "../text/paint.ts";
import { JsonTracePrinter, TextTracePrinter, type TracePrinter } from "./trace_printer.ts";
import type { Context, Verb } from "../verb.ts";

const ACTIONS = ["show", "follow", "tree"];
const EXIT_INTERRUPTED = 130;

/** `boll trace show|follow|tree [SESSION|last]`: what a session did or does, as a timeline or as the recorded lines; what it
 * delegated to, as a tree. */
export const verb: Verb = {
  name: "trace",
  summary: "Show what a session did",
  usage: "trace show|follow|tree [SESSION|last] [options]",
  operands: { min: 0, max: 2, names: ["show|follow|tree", "SESSION"] },
  options: [
    { name: "json", summary: "Print the events as they are recorded, one JSON object a line" },
    { name: "all", summary: "All of a long trace, not only its two ends" },
  ],
  notes: [
    "SESSION is an id, a prefix of one that is unique (4 characters or more), or last",
    "(the default): what was run last, not what that delegated to. follow prints",
    "events as they come, until the session ends, and those of the sessions below it,",
    "each line with its path and capsule. tree draws it with all that it delegated",
    "to: how each ended, its answer, its grants.",
    "",
    "  boll trace show",
    "  boll trace show ses_0196b2 --json",
    "  boll trace follow",
    "  boll trace tree",
  ],
  async run(args, context) {
    const [action, wanted = "last"] = args.operands;
    requireAction(action);
    const home = openHome(context.readVariable);
    markCrashed(home);
    if (action === "tree") return await drawTree(home, wanted, args, context);
    const { paths, printer } = await open(home, wanted, args.has("json"), context);
    if (action === "follow") return await follow({ home, paths, printer, args, context });
    const state = stateOf(paths);
    for (const range of ranges(args.has("all") ? undefined : findGap(paths.trace), printer)) {
      for (const line of readTraceLines(paths.trace, range)) printer.line(line);
    }
    printer.end(state);
    return 0;
  },
};

async function drawTree(home: Home, wanted: string, args: Arguments, context: Context): Promise<number> {
  const { drawSessionTree, readSessionTree, sessionTreeLines } = await import("./session_tree.ts");
  const tree = readSessionTree(home, (await findWanted(home, wanted)).id);
  const drawn = args.has("json") ? sessionTreeLines(tree) : drawSessionTree(tree, paintFor(context.stdout, context));
  context.stdout.write(drawn);
  return 0;
}

/** The last is what was run last: the newest session may be one that it started. */
async function findWanted(home: Home, wanted: string): Promise<SessionPaths> {
  const newest = findSession(home, wanted);
  if (wanted !== "last") return newest;
  const { rootOf } = await import("./session_tree.ts");
  return sessionPaths(home, rootOf(home, newest.id));
}

async function open(home: Home, wanted: string, json: boolean, context: Context) {
  const paths = await findWanted(home, wanted);
  return { paths, printer: printerFor(paths, json, context) };
}

function printerFor(paths: SessionPaths, json: boolean, context: Context, sink = context.stdout): TracePrinter {
  return json ? new JsonTracePrinter(context) : new TextTracePrinter(sink, paths, paintFor(context.stdout, context));
}

interface Following {
  readonly home: Home;
  readonly paths: SessionPaths;
  readonly printer: TracePrinter;
  readonly args: Arguments;
  readonly context: Context;
}

/** The session, and whatever it starts meanwhile. */
async function follow({ home, paths, printer, args, context }: Following): Promise<number> {
  const signal = context.watchInterrupt?.() ?? new AbortController().signal;
  const gap = args.has("all") ? undefined : gapOfGrowing(paths.trace);
  const below = followDescendants(paths, {
    home,
    signal,
    pause: (ms) => pause(ms, signal),
    printerOf: (node, child) => printerFor(child, args.has("json"), context, prefixedSink(context.stdout, node)),
  });
  below.catch(() => {});
  let from = 0;
  for (const range of ranges(gap, printer)) {
    from = range.from ?? 0;
    if (range.to === undefined) break;
    for (const line of readTraceLines(paths.trace, range)) printer.line(line);
  }
  for await (const line of followTrace(paths, { from, signal, pause: (ms) => pause(ms, signal) })) printer.line(line);
  await below;
  if (signal.aborted) return EXIT_INTERRUPTED;
  printer.end("ended");
  return 0;
}

/** A session that has just begun has no trace yet. */
function gapOfGrowing(trace: string): TraceGap | undefined {
  try {
    return findGap(trace);
  } catch (error) {
    if (error instanceof CapsuleError && error.code === "records.not_found") return undefined;
    throw error;
  }
}

/** The whole trace, or what is before the gap and what is behind it, with a word between. */
function* ranges(
  gap: TraceGap | undefined,
  printer: TracePrinter,
): Generator<{ readonly from?: number; readonly to?: number }> {
  if (gap !== undefined) {
    yield { to: gap.from };
    printer.gap(gap.to - gap.from);
  }
  yield gap === undefined ? {} : { from: gap.to };
}

/** Waits, or less when the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}

function requireAction(action: string | undefined): void {
  if (action !== undefined && ACTIONS.includes(action)) return;
  const hint = "see `boll trace --help`";
  if (action === undefined) {
    throw new CapsuleError("usage.missing_argument", `Read trace: found no action, wanted show or follow; ${hint}`);
  }
  const near = closest(action, ACTIONS);
  const wanted = near === undefined ? "wanted show or follow" : `did you mean ${near}?`;
  throw new CapsuleError("usage.bad_value", `Read trace: found "${printableLine(action, 40)}", ${wanted}; ${hint}`);
}

/** A session that is marked by now is ended; one whose records cannot be marked is shown as it is. */
function stateOf(paths: SessionPaths): SessionState {
  try {
    return markIfCrashed(paths);
  } catch {
    return "crashed";
  }
}
