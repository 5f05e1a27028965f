import type { OperationTiming } from "./file_operations.ts";
import type { Machine } from "./machine.ts";
import type { Timing } from "./timing.ts";

/** The page `docs/benchmarks.md`. The first of `startUp` is what the others are compared with. */
export function writeReport(
  machine: Machine,
  startUp: readonly Timing[],
  operations: readonly OperationTiming[],
): string {
  const [empty] = startUp;
  const startRows = startUp.map(({ name, medianMs, minMs, maxMs }) => [
    name,
    medianMs.toFixed(1),
    `${minMs.toFixed(1)} – ${maxMs.toFixed(1)}`,
    (medianMs / empty!.medianMs).toFixed(2),
  ]);
  const operationRows = operations.map(({ name, guestUs, directUs }) => [
    name,
    guestUs.toFixed(1),
    directUs.toFixed(1),
    (guestUs / directUs).toFixed(2),
  ]);
  return `# Benchmarks

Written by \`make bench\`; whole commands from spawn to exit, run in turn (A B C A B C …) so that a drifting machine slows
all alike. Compare the ratios; the times are this machine's.

Machine: ${machine.processor}, ${machine.cores} cores, ${machine.memoryGib} GiB, ${machine.system}, Deno ${machine.deno}.

## A foreground run

Median of ${empty!.runs} runs each, warm unless it says cold (the component is described, checked and transpiled anew).

${table(["run", "median ms", "min – max", "× empty"], startRows)}

Without the hull is the same code compiled to leave the kernel wall out, for this comparison alone.

## File operations

One operation of a guest behind all walls, against the same Deno calls made directly with one buffer, in a thread scoped
to the folder as a guest's is; each is the difference of whole runs with many operations and with none. A file is 4096
bytes: \`read file\` and \`write file\` open it, move all of it and close; the rows below them are their parts. \`deep\` is
three folders down.

${table(["operation", "guest µs", "direct µs", "ratio"], operationRows)}
`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map((_, column) => column === 0 ? "---" : "---:"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
