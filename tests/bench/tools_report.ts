import { table } from "./table.ts";
import { judge, TARGETS } from "./target.ts";
import type { ToolTiming } from "./tools.ts";

/** The part of the page about component tools. */
export function writeTools(timings: readonly ToolTiming[]): string {
  const rows = timings.map(({ thread, spacedMs, backToBackMs, newCellMs }) => [
    thread,
    spacedMs.toFixed(1),
    judge(spacedMs, TARGETS.liveCall),
    backToBackMs.toFixed(1),
    newCellMs.toFixed(0),
    (newCellMs / spacedMs).toFixed(0),
  ]);
  const head = [
    "the guests' thread",
    "call ms",
    "target",
    "back to back ms",
    "new cell ms",
    "× faster than with a new cell",
  ];
  return `## A tool of an agent

A JavaScript tool of 1.1 MB that gives back its input, called in a cell that lives: each call has an instance of its own,
which was made ahead unless the next call comes at once. A new cell is started, asked for its tool, and called once.

${table(head, rows)}`;
}
