import type { Grants } from "../../grants/mod.ts";
import { ResultFile, type SessionPaths } from "../../records/mod.ts";
import { type CapturedCell, type CellProcess, spawnCapturedCell } from "../../supervisor/mod.ts";
import { Capture } from "./capture.ts";
import { outputEnding } from "../outcome.ts";
import { type CellRun, runCell } from "./run_cell.ts";
import { StderrLog } from "./stderr_log.ts";
import type { CellResult } from "./watch_cell.ts";

/** What a guest may write to captured streams together when its grants say nothing, bytes. */
const CAPTURED_OUTPUT_BYTES = 10 * 1024 * 1024;

/** A run whose guest has pipes to this process. */
export interface CapturedRun extends CellRun {
  readonly places: Pick<SessionPaths, "root" | "runtime" | "work" | "out">;
  /** What the guest reads from its stdin. */
  readonly input: string;
  /** The name of the answer's file; default `result.txt`. */
  readonly answerName?: string;
  /** Where its stderr goes; default a log of its own. */
  readonly log?: StderrLog;
  /** Told each piece of stdout as it comes. */
  onOutput?(bytes: Uint8Array): void;
}

/** How a captured run ended. */
export interface CapturedResult extends CellResult {
  /** The start of what the guest wrote to stdout: more than is handed on. */
  readonly head: string;
}

/** Runs the cell that is to be captured: `take` gives its process, once it is started. */
export type Lead = (run: CapturedRun, take: (captured: CapturedCell) => CellProcess) => Promise<CellResult>;

const inOwnCell: Lead = (run, take) =>
  runCell(run, [false, false, false], async (launch) => take(await spawnCapturedCell(launch)));

/** The grants of a run whose output is captured: with a limit on it. */
export function captureGrants(grants: Grants): Grants {
  return { ...grants, limits: { output_bytes: CAPTURED_OUTPUT_BYTES, ...grants.limits } };
}

/**
 * Runs a command capsule in one cell whose stdout becomes a file in `records/out`, whole and also when the guest does
 * not end by itself, and whose stderr goes to `runtime/logs/stderr.log`.
 *
 * @throws `cell.start_failed`, `hull.failed` when the guest never came to run; `home.unwritable`
 */
export async function runCaptured(run: CapturedRun, lead: Lead = inOwnCell): Promise<CapturedResult> {
  const { places, input } = run;
  const maxBytes = run.plan.grants.limits.output_bytes ?? CAPTURED_OUTPUT_BYTES;
  using answer = ResultFile.open(places, run.answerName);
  using ownLog = run.log === undefined ? new StderrLog(places) : undefined;
  const log = run.log ?? ownLog!;
  let capture: Capture | undefined;
  try {
    const result = await lead(run, (captured) => {
      const { onOutput } = run;
      capture = new Capture(captured, { result: answer, log, input, maxBytes, ...(onOutput && { onOutput }) });
      return captured.cell;
    });
    if (result.failure !== undefined || capture === undefined) return { ...result, head: "" };
    await capture.finish();
    return { ...result, ...(capture.isOver ? { outcome: outputEnding() } : {}), head: capture.head };
  } finally {
    await capture?.close();
  }
}
