import type { AgentsResult } from "./agents.ts";
import { writeAgents } from "./agents_report.ts";
import type { DoorTiming } from "./doors.ts";
import { writeDoors, writeServed } from "./doors_report.ts";
import type { OperationTiming } from "./file_operations.ts";
import type { FullHome } from "./full_home.ts";
import type { Machine } from "./machine.ts";
import { writeOutgoing, writeServing } from "./network_report.ts";
import type { OutgoingTiming } from "./outgoing.ts";
import type { Peers } from "./peers.ts";
import type { ServedTiming } from "./served.ts";
import type { ServiceTiming } from "./serving.ts";
import { writeCrowds, writeFrames, writeFullHome, writeResults, writeStarts } from "./sessions_report.ts";
import type { StartUpTiming } from "./start_up.ts";
import { table } from "./table.ts";
import { judge, TARGETS } from "./target.ts";
import type { CrowdResult } from "./tree/crowds.ts";
import type { FramesResult } from "./tree/frames.ts";
import type { ResultsResult } from "./tree/results.ts";
import type { StartsResult } from "./tree/starts.ts";
import type { ToolTiming } from "./tools.ts";
import { writeTools } from "./tools_report.ts";

/** What one run of the bench found; of parts that were not measured nothing. */
export interface Findings {
  readonly machine: Machine;
  readonly peers: Peers;
  /** The first is what the others are compared with, the second what peers are compared with. */
  readonly startUp?: readonly StartUpTiming[];
  readonly operations?: readonly OperationTiming[];
  readonly services?: readonly ServiceTiming[];
  readonly outgoing?: readonly OutgoingTiming[];
  /** The first is what the other is compared with. */
  readonly doors?: readonly DoorTiming[];
  readonly served?: readonly ServedTiming[];
  readonly starts?: StartsResult;
  readonly crowds?: readonly CrowdResult[];
  readonly frames?: FramesResult;
  readonly results?: ResultsResult;
  readonly fullHome?: FullHome;
  readonly tools?: readonly ToolTiming[];
  readonly agents?: AgentsResult;
}

/** The page `docs/benchmarks.md`. */
export function writeReport(findings: Findings): string {
  const { machine, peers } = findings;
  const sections = [
    findings.startUp && writeStartUp(findings.startUp),
    findings.fullHome && writeFullHome(findings.fullHome),
    findings.operations && writeOperations(findings.operations),
    findings.services && writeServing(findings.services),
    findings.tools && writeTools(findings.tools),
    findings.agents && writeAgents(findings.agents),
    findings.outgoing && writeOutgoing(findings.outgoing),
    findings.doors && writeDoors(findings.doors),
    findings.served && writeServed(findings.served),
    findings.starts && writeStarts(findings.starts),
    findings.crowds && writeCrowds(findings.crowds),
    findings.frames && writeFrames(findings.frames),
    findings.results && writeResults(findings.results),
  ];
  return `# Benchmarks

Written by \`make bench\`; whole commands from spawn to exit, run in turn (A B C A B C …) so that a drifting machine slows
all alike. Compare the ratios; the times are this machine's.

Machine: ${machine.processor}, ${machine.cores} cores, ${machine.memoryGib} GiB, ${machine.system}, Deno ${machine.deno}.

${describePeers(peers)}

${sections.filter((section) => section !== undefined).join("\n\n")}
`;
}

function describePeers(peers: Peers): string {
  if (peers.kind === "installed") return `Others: ${peers.versions}.`;
  return `No other tool was measured, and no target against one judged: ${peers.reason}.`;
}

function writeStartUp(startUp: readonly StartUpTiming[]): string {
  const [empty, boll] = startUp;
  const rows = startUp.map(({ name, runs, medianMs, minMs, maxMs, target }) => {
    const [ofEmpty, ofBoll] = [medianMs / empty!.medianMs, medianMs / boll!.medianMs];
    return [
      name,
      `${runs}`,
      medianMs.toFixed(1),
      `${minMs.toFixed(1)} – ${maxMs.toFixed(1)}`,
      ofEmpty.toFixed(2),
      ofBoll.toFixed(2),
      target ? `${judge(target.compared === "of empty" ? ofEmpty : ofBoll, target.target)} × ${named(target)}` : "",
    ];
  });
  return `## A foreground run

Medians, warm unless it says cold (the component is described, checked and transpiled anew).

${table(["run", "runs", "median ms", "min – max", "× empty", "× boll", "target"], rows)}

\`× boll\` is against ${boll!.name}. Without the hull is the same code compiled to leave the kernel wall out, for this
comparison alone.`;
}

function named({ compared }: NonNullable<StartUpTiming["target"]>): string {
  return compared === "of empty" ? "empty" : "boll";
}

function writeOperations(operations: readonly OperationTiming[]): string {
  const rows = operations.map(({ name, guestUs, directUs, shimUs }) => {
    const direct = guestUs / directUs;
    const shim = shimUs === undefined ? [] : [
      shimUs.toFixed(1),
      (shimUs / guestUs).toFixed(1),
      judge(shimUs / guestUs, TARGETS.shimFiles),
    ];
    return [
      name,
      guestUs.toFixed(1),
      directUs.toFixed(1),
      direct.toFixed(2),
      judge(direct, TARGETS.directFiles),
      ...shim,
    ];
  });
  const hasShim = operations.some(({ shimUs }) => shimUs !== undefined);
  const head = ["operation", "guest µs", "direct µs", "× direct", "target"];
  return `## File operations

One operation of a guest behind all walls, against the same Deno calls made directly with one buffer, in a thread scoped
to the folder as a guest's is${
    hasShim ? ", and against the same guest on preview2-shim in Deno without isolation" : ""
  }; each is
the difference of whole runs with many operations and with none. A file is 4096 bytes: \`read file\` and \`write file\` open
it, move all of it and close; the rows below them are their parts. \`deep\` is three folders down.

${table(hasShim ? [...head, "shim µs", "× faster than shim", "target"] : head, rows)}`;
}
