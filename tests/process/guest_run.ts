import { type Bed, type RunningBoll } from "../harness.ts";
import { childrenOf } from "../processes.ts";
import { type RunOptions } from "../running_boll.ts";
import { warmGuest } from "../warm_cache.ts";

/** A run whose guest has said that it is up. */
export interface GuestRun {
  readonly running: RunningBoll;
  /** The process of boll itself. */
  readonly main: number;
  readonly cell: number;
}

/**
 * Runs JavaScript in the probe, which is up when this comes back: the source follows a print of `up`. Standard input is
 * open, and what `flags` grant is granted.
 */
export async function startProbe(
  bed: Bed,
  source: string,
  flags: readonly string[] = [],
  options: RunOptions = {},
): Promise<GuestRun> {
  const probe = await warmGuest(bed, "probe");
  const args = ["run", probe, ...flags, "--", `print("up"); ${source}`];
  const running = bed.start(args, { stdin: { open: true }, ...options });
  await running.stdout.waitFor("up\n");
  const [cell] = childrenOf(running.child.pid);
  if (cell === undefined) throw new Error(`Find cell of ${running.child.pid}: it has no child`);
  return { running, main: running.child.pid, cell };
}

/** Source for a guest that waits in the host, in its own code, and in a read of its standard input. */
export const WAYS_TO_BE_BUSY: Readonly<Record<string, string>> = {
  "waits in the host": "monotonicClock.subscribeDuration(3e18).block()",
  "never yields": "for (;;);",
  "reads its input": "readStdin()",
};
