import type { AgentsResult } from "./agents.ts";
import { table } from "./table.ts";

/** The part of the page about agents. */
export function writeAgents({ runs, turnMs, callMs, crowd }: AgentsResult): string {
  const [empty, plain] = runs;
  const rows = runs.map(({ name, medianMs, minMs, maxMs }) => [
    name,
    medianMs.toFixed(0),
    `${minMs.toFixed(0)} – ${maxMs.toFixed(0)}`,
    (medianMs / empty!.medianMs).toFixed(2),
    (medianMs / plain!.medianMs).toFixed(2),
  ]);
  const { count, oneMs, allMs, wholeMs, sessionBytes, supervisorBytes, idleBytes } = crowd;
  const crowds = [
    `${count}`,
    oneMs.toFixed(0),
    allMs.toFixed(0),
    (allMs / oneMs).toFixed(1),
    wholeMs.toFixed(0),
    (sessionBytes / count / 2 ** 20).toFixed(1),
    (supervisorBytes / count / 2 ** 20).toFixed(1),
    (sessionBytes / idleBytes).toFixed(2),
    ((sessionBytes + supervisorBytes) / idleBytes).toFixed(2),
  ];
  return `## Agents

Whole runs of \`boll run AGENT\` behind all walls; the model is a playbook that answers at once, so that what is left is the
runtime's own. A round of the loop: ${
    turnMs.toFixed(2)
  } ms, with its call refused by the loop; a call of a component tool in
it: ${callMs.toFixed(2)} ms more.

${table(["run", "median ms", "min – max", "× empty", "× an answer"], rows)}

Runs of an agent started together, each waiting for its model: from the start until the only one, and until the last of
all, has asked; then until all are over. Memory (PSS) is that of its session and of its supervisor, each, against as many
idle compiled programs.

${
    table(
      [
        "agents at once",
        "one asks ms",
        "all ask ms",
        "× one",
        "whole ms",
        "session MiB",
        "supervisor MiB",
        "session × idle",
        "both × idle",
      ],
      [crowds],
    )
  }`;
}
