import { CapsuleError, type Containment, printable, printableJson, printableLine } from "../../base/mod.ts";
import type { ContainmentResult } from "../../grants/mod.ts";
import type { SessionPlaces } from "../../records/mod.ts";
import { isCompiled, type Outcome } from "../../session/mod.ts";
import type { Arguments } from "../options/arguments.ts";
import { errorReport } from "../report_error.ts";
import type { Resolved } from "./resolve_run.ts";
import type { Context } from "../verb.ts";

/** What there is to say at the end of a foreground run. */
export interface Ending {
  readonly args: Arguments;
  readonly context: Context;
  readonly places: SessionPlaces;
  readonly containment: Containment;
  readonly outcome: Outcome;
  readonly durationMs: number;
  /** Why the guest never came to run. */
  readonly error?: unknown;
}

const WORDS: Partial<Record<Outcome["ended_by"], string>> = {
  trap: "the guest trapped",
  deadline: "ended at its deadline",
  memory: "ended at its memory limit",
  cpu: "ended at its CPU limit",
  output: "ended at its output limit",
  interrupted: "interrupted",
  terminated: "stopped",
  crashed: "the cell crashed",
};

/**
 * Says on stderr how a run ended, and gives the exit status: with `--json` one object on every ending, else one line
 * `boll: …` exactly when the status is ours and not the guest's.
 */
export function reportEnding(ending: Ending): number {
  const { args, context, outcome } = ending;
  // A guest may have left its last line of stderr open, with an object of its own before it.
  const start = ending.error === undefined ? "\n" : "";
  if (args.has("json")) context.stderr.write(`${start}${printableJson(toJson(ending))}\n`);
  else if (ending.error !== undefined) reportFailure(ending);
  else if (WORDS[outcome.ended_by] !== undefined) {
    const detail = outcome.detail ? ` (${printableLine(outcome.detail)})` : "";
    context.stderr.write(`boll: ${WORDS[outcome.ended_by]}${detail}; see \`boll trace show ${ending.places.id}\`\n`);
  }
  return outcome.exit_code;
}

function reportFailure({ context, error }: Ending): void {
  const { message, problems } = errorReport(error);
  for (const problem of problems ?? []) context.stderr.write(`  ${printable(problem)}\n`);
  context.stderr.write(`boll: ${printable(message)}\n`);
}

function toJson({ places, containment, outcome, durationMs, error }: Ending): Record<string, unknown> {
  return {
    session_id: places.id,
    status: outcome.status,
    exit_code: outcome.exit_code,
    ended_by: outcome.ended_by,
    ...(outcome.detail === undefined ? {} : { detail: outcome.detail }),
    ...(error instanceof CapsuleError ? { code: error.code, problems: error.problems } : {}),
    duration_ms: durationMs,
    containment,
    trace: places.trace,
  };
}

/** Says on stderr what of the grants is worth a warning. */
export function warnOf({ grants }: Pick<Resolved, "grants">, context: Context): void {
  for (const warning of grants.warnings) context.stderr.write(`boll: warning: ${printableLine(warning)}\n`);
}

/** From source there is never a kernel wall, which is no news to who works on it. */
export function warnOfContainment({ achieved, reasons }: ContainmentResult, context: Context): void {
  if (achieved === "scoped" || !isCompiled) return;
  context.stderr.write(`boll: warning: containment is ${achieved}: ${printableLine(reasons.join("; "), 2000)}\n`);
}
