import { Bed } from "../harness.ts";
import { CalledTools } from "../process/called_tools.ts";
import { percentile } from "./timing.ts";

/** What a call of a component tool takes; medians, ms. */
export interface ToolTiming {
  /** Where the guests have their thread. */
  readonly thread: string;
  /** One call after the other, with a moment between: an instance was made ahead. */
  readonly spacedMs: number;
  /** One call right behind the other. */
  readonly backToBackMs: number;
  /** Until a new cell stands, its tool has described itself, and one call is answered. */
  readonly newCellMs: number;
}

/** How much is measured. */
export interface ToolRounds {
  readonly calls: number;
  /** Cells that are started. */
  readonly cells: number;
}

/** Longer than the making of one instance takes, ms. */
const MOMENT_MS = 30;

const THREADS = {
  "its own, with a folder": { fs: { work: "rw", mounts: [] } },
  "the cell's, stdio only": {},
} as const;

/** Calls a JavaScript tool of 1.1 MB that gives back what it gets, in cells of the executable behind all walls. */
export async function timeTools(rounds: ToolRounds): Promise<ToolTiming[]> {
  const timings: ToolTiming[] = [];
  for (const [thread, grants] of Object.entries(THREADS)) {
    await using bed = new Bed("binary");
    const open = () => CalledTools.open(bed, [{ name: "probe" }], { grants });
    await (await open())[Symbol.asyncDispose](); // built, and read once
    const newCell = await times(rounds.cells, async () => {
      await using tools = await open();
      await echo(tools);
    });
    await using tools = await open();
    const backToBack = await times(rounds.calls, () => echo(tools));
    const spaced = await times(rounds.calls, () => echo(tools), MOMENT_MS);
    timings.push({
      thread,
      spacedMs: percentile(spaced, 50),
      backToBackMs: percentile(backToBack, 50),
      newCellMs: percentile(newCell, 50),
    });
  }
  return timings;
}

async function times(count: number, work: () => Promise<void>, pauseMs?: number): Promise<number[]> {
  const found: number[] = [];
  for (let at = 0; at < count; at++) {
    if (pauseMs !== undefined) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const startedAt = performance.now();
    await work();
    found.push(performance.now() - startedAt);
  }
  return found;
}

async function echo(tools: CalledTools): Promise<void> {
  const { content, isError } = await tools.call("probe", { do: "echo", text: "hello" });
  if (isError || content !== "hello") throw new Error(`Call a tool: found ${content}, wanted hello`);
}
