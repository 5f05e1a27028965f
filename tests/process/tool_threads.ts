import { type Bed, forExecutable } from "../harness.ts";
import type { CalledToolsOptions } from "./called_tools.ts";

/** The places of the guests' thread: its own, because they have a folder, or the cell's main one. */
const THREADS = { own: { fs: { work: "rw", mounts: [] } }, main: {} } as const;

/** Registers a test for each place of the guests' thread. */
export function forThreads(
  name: string,
  body: (bed: Bed, options: Pick<CalledToolsOptions, "grants">) => Promise<void>,
): void {
  for (const [thread, grants] of Object.entries(THREADS)) {
    forExecutable(`${name} (${thread} thread)`, (bed) => body(bed, { grants }));
  }
}
