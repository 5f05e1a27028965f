import { asHostFailure, CapsuleError, printable, printableJson, printableLine } from "../base/mod.ts";
import { paintFor } from "./text/paint.ts";
import { readTaste } from "./read_variable.ts";
import type { Context } from "./verb.ts";

/** Options of {@link reportError}. `json` prints one object instead of lines; `isRun` is for a run that never began. */
export interface ReportErrorOptions {
  readonly json: boolean;
  readonly isRun?: boolean;
}

/** An error as `--json` prints it, on one line of stderr. */
export interface ErrorReport {
  readonly status: "failed" | "refused";
  readonly exit_code: number;
  readonly code: string;
  readonly message: string;
  readonly problems?: readonly string[];
}

/** Exit status of a refusal: a grant, a floor, a missing consent. */
const REFUSED = 5;

/** The fields of an ending that only a session has. */
const NO_SESSION = { session_id: null, containment: null, trace: null } as const;

/** Milliseconds since this process began, whole. */
function sinceStartMs(): number {
  return Math.round(performance.now());
}

/** How a run ended whose guest never came to run, in the words of the records. */
export function unstartedEnding(exitCode: number): "refused" | "crashed" {
  return exitCode === 2 || exitCode === REFUSED ? "refused" : "crashed";
}

/** Prints an error to stderr, `boll: …` last, and gives the exit status it ends the process with. */
export function reportError(error: unknown, context: Context, options: ReportErrorOptions): number {
  const report = errorReport(error);
  if (readTaste(context, "BOLL_DEBUG") === "1" && error instanceof Error) {
    context.stderr.write(printable(`${error.stack}\n`));
    if (error.cause !== undefined) context.stderr.write(printable(`Caused by: ${describe(error.cause)}\n`));
  }
  if (options.json) {
    const ending = unstartedEnding(report.exit_code);
    const ended = options.isRun ? { ...NO_SESSION, status: ending, ended_by: ending, duration_ms: sinceStartMs() } : {};
    context.stderr.write(printableJson({ ...report, ...ended }) + "\n");
  } else {
    const paint = paintFor(context.stderr, context);
    // The only problem is the message itself.
    const problems = report.problems?.filter((problem) => !report.message.includes(problem)) ?? [];
    for (const problem of problems) context.stderr.write(`  ${printable(problem)}\n`);
    context.stderr.write(`${paint.bad("boll:")} ${printable(report.message)}\n`);
  }
  return report.exit_code;
}

/** An error as plain data. What is not a `CapsuleError` is our own mistake, and says how to report it. */
export function errorReport(thrown: unknown): ErrorReport {
  const error = asHostFailure(thrown);
  if (!(error instanceof CapsuleError)) {
    const message =
      `internal error: ${printableLine(messageOf(error))}; this is a mistake in boll: please report it with ` +
      "the command and the output of `boll version` (BOLL_DEBUG=1 shows where it happened)";
    return { status: "failed", exit_code: 1, code: "internal", message };
  }
  const { code, message, problems, exitStatus } = error;
  const base = { status: exitStatus === REFUSED ? "refused" : "failed", exit_code: exitStatus, code, message } as const;
  return problems.length === 0 ? base : { ...base, problems };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function describe(cause: unknown): string {
  return cause instanceof Error ? cause.stack ?? cause.message : String(cause);
}
