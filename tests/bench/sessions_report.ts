import type { FullHome } from "./full_home.ts";
import { table } from "./table.ts";
import { judge, TARGETS } from "./target.ts";
import type { CrowdResult } from "./tree/crowds.ts";
import type { FramesResult } from "./tree/frames.ts";
import type { ResultsResult } from "./tree/results.ts";
import type { Spread } from "./tree/setup.ts";
import type { StartsResult } from "./tree/starts.ts";

/** The part of the page about one session after the other. */
export function writeStarts({ runs, empty, up, ready, whole, killed, cellGone }: StartsResult): string {
  const ratio = ready.p50 / empty.p50;
  const row = (name: string, { p50, p99 }: Spread, target = "") => [
    name,
    p50.toFixed(1),
    p99.toFixed(1),
    (p50 / empty.p50).toFixed(2),
    target,
  ];
  const rows = [
    row("empty compiled program, whole", empty),
    row("session: its process follows its supervisor", up),
    row("session: ready, its guest about to run", ready, `${judge(ratio, TARGETS.sessionReady)} × empty`),
    row("session: its answer on record, reaped", whole),
    row("busy session: from the verdict to its record, reaped", killed),
    row("busy session: from the verdict to the end of its cell", cellGone),
  ];
  return `## A session

A supervisor, compiled into a program of its own, starts sessions of \`dist/boll\` one at a time, ${runs} of each kind; all
that is prepared for them is part of their start. The first three rows of a session are of the smallest guest, the rest of
one that computes for ever and is killed. The component is in its cache.

${table(["from the asking", "p50 ms", "p99 ms", "× empty", "target"], rows)}`;
}

/** The part of the page about many sessions at once. */
export function writeCrowds(crowds: readonly CrowdResult[]): string {
  const starts = crowds.map(({ count, emptyMs, readyMs }) => [
    `${count}`,
    emptyMs.toFixed(0),
    readyMs.toFixed(0),
    (readyMs / emptyMs).toFixed(2),
  ]);
  const memory = crowds.map(({ count, idleBytes, sessionBytes, cellBytes, supervisorBytes }) => {
    const ratio = (sessionBytes + cellBytes) / idleBytes;
    return [
      `${count}`,
      mib(idleBytes),
      mib(sessionBytes),
      mib(cellBytes),
      mib(supervisorBytes),
      (sessionBytes / idleBytes).toFixed(2),
      ratio.toFixed(2),
      `${judge(ratio, TARGETS.idleSession)} × idle`,
    ];
  });
  return `## Many sessions at once

Idle command sessions: a guest that waits, in a cell of its own. Started together, until all are ready, against as many
empty compiled programs started together, until all have ended.

${table(["at once", "empty ms", "ready ms", "× empty"], starts)}

Their memory, MiB: of all processes together what each has alone and its share of the rest (PSS), against as many compiled
programs that only wait. The target is for a session with its cell: two processes of the runtime, so that 2 is what they
take before there is any code of boll's in them.

${
    table(
      ["at once", "idle programs", "sessions", "cells", "supervisor", "sessions × idle", "with cells × idle", "target"],
      memory,
    )
  }`;
}

/** The part of the page about frames. */
export function writeFrames({ trips, eventsPerSecond }: FramesResult): string {
  const rows = trips.map(({ name, atOnce, perSecond, isFrames }) => [
    name,
    atOnce === 0 ? "" : `${atOnce}`,
    perSecond.toFixed(0),
    isFrames ? judge(perSecond, TARGETS.roundTrips) : "",
  ]);
  return `## Frames

Round trips of \`ping\` and \`pong\` through pipes, with so many of them on their way at once. The pipe alone is what two
programs of the runtime reach with bytes that nobody looks at.

${table(["who answers", "at once", "round trips/s", "target"], rows)}

One child that floods: ${eventsPerSecond.toFixed(0)} events/s, each decoded, checked, and passed on or counted.`;
}

/** The part of the page about results of children that go at once. */
export function writeResults({ sessions, atOnce, lost, eachMs, bareEachMs }: ResultsResult): string {
  const row = [
    `${sessions}`,
    `${atOnce}`,
    (sessions * eachMs / 1000).toFixed(1),
    eachMs.toFixed(2),
    bareEachMs.toFixed(2),
    (eachMs / bareEachMs).toFixed(2),
    `${lost}`,
    `0: ${lost === 0 ? "met" : "missed"}`,
  ];
  const head = ["sessions", "at once", "s", "ms each", "unsupervised ms each", "×", "results lost", "target"];
  return `## Results of children that go at once

Sessions that are shell scripts: they say a result and exit. Unsupervised is the same script started with the same pipes,
its output read to the end.

${table(head, [row])}`;
}

/** The part of the page about a home that has grown. */
export function writeFullHome({ sessions, traceBytes, almostEmpty, full }: FullHome): string {
  const ratio = full.medianMs / almostEmpty.medianMs;
  const row = (name: string, { runs, medianMs, minMs, maxMs }: FullHome["full"], judged: readonly string[]) => [
    ...[name, `${runs}`, medianMs.toFixed(1), `${minMs.toFixed(1)} – ${maxMs.toFixed(1)}`],
    ...judged,
  ];
  return `## A home that has grown

The smallest guest, run in a home with the records of a few sessions and in one with those of ${sessions}, of which one has
a trace of ${(traceBytes / 2 ** 30).toFixed(0)} GiB.

${
    table(["home", "runs", "median ms", "min – max", "×", "target"], [
      row("a few sessions", almostEmpty, ["1.00", ""]),
      row(`${sessions} sessions`, full, [ratio.toFixed(2), judge(ratio, TARGETS.fullHome)]),
    ])
  }`;
}

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}
