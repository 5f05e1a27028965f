import { spawnForegroundCell } from "../../supervisor/mod.ts";
import { type CellRun, runCell } from "./run_cell.ts";
import { type CellResult, terminals } from "./watch_cell.ts";

/**
 * Runs a command capsule in one cell whose guest has the user's own streams, with this process as its session. Records
 * are the caller's; nothing of the cell is left.
 *
 * @throws `cell.start_failed`, `hull.failed` when the guest never came to run
 */
export async function runForeground(run: CellRun): Promise<CellResult> {
  return await runCell(run, terminals(), spawnForegroundCell);
}
