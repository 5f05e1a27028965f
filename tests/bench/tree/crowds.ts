import { childrenOf } from "../../processes.ts";
import { memoryOf, sumOf } from "../memory.ts";
import { BenchTree } from "./bench_tree.ts";
import type { TreeSetup } from "./setup.ts";
import { KILLED } from "./starts.ts";

/** So many at once, idle; memory is what each process has for itself and its share of the rest (PSS), bytes, all together. */
export interface CrowdResult {
  readonly count: number;
  /** Until so many empty programs, started together, have ended, ms. */
  readonly emptyMs: number;
  /** Until all sessions are ready, ms. */
  readonly readyMs: number;
  readonly idleBytes: number;
  readonly sessionBytes: number;
  readonly cellBytes: number;
  /** The supervisor's own. */
  readonly supervisorBytes: number;
}

/** How long a crowd is left alone before its memory is read, ms: whoever has just started still tidies up. */
const SETTLE_MS = 1_000;

/** One crowd after the other; what is compared comes first in each. */
export async function timeCrowds(setup: TreeSetup): Promise<CrowdResult[]> {
  const results: CrowdResult[] = [];
  for (const count of setup.rounds.crowds) {
    const emptyMs = await timeEmpties(setup, count);
    const idleBytes = await measureIdle(setup, count);
    results.push({ count, emptyMs, idleBytes, ...await measureSessions(setup, count) });
  }
  return results;
}

async function timeEmpties(setup: TreeSetup, count: number): Promise<number> {
  const startedAt = performance.now();
  await Promise.all(start(setup.programs.empty, count).map((child) => child.output()));
  return performance.now() - startedAt;
}

async function measureIdle(setup: TreeSetup, count: number): Promise<number> {
  const children = start(setup.programs.idle, count);
  try {
    await Promise.all(children.map(untilUp));
    await settle();
    return sumOf(children.map(({ pid }) => pid));
  } finally {
    for (const child of children) child.kill("SIGKILL");
    await Promise.all(children.map((child) => child.output().catch(() => {})));
  }
}

async function measureSessions(setup: TreeSetup, count: number) {
  await using tree = new BenchTree(setup);
  const startedAt = performance.now();
  const sessions = Array.from({ length: count }, () => tree.startGuest(setup.guests.block));
  await Promise.all(sessions.map(({ readyMs }) => readyMs));
  const readyMs = performance.now() - startedAt;
  await settle();
  const pids = sessions.map(({ child }) => child.node().pid);
  const result = {
    readyMs,
    sessionBytes: sumOf(pids),
    cellBytes: sumOf(pids.flatMap(childrenOf)),
    supervisorBytes: memoryOf(Deno.pid),
  };
  for (const { child } of sessions) child.kill(KILLED);
  await Promise.all(sessions.map(({ child }) => child.ended));
  return result;
}

function start(program: string, count: number): Deno.ChildProcess[] {
  return Array.from(
    { length: count },
    () => new Deno.Command(program, { clearEnv: true, stdin: "null", stdout: "piped", stderr: "piped" }).spawn(),
  );
}

async function untilUp({ stdout }: Deno.ChildProcess): Promise<void> {
  const reader = stdout.getReader();
  const { done } = await reader.read();
  reader.releaseLock();
  if (done) throw new Error("Start the idle program: it ended");
}

function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
}
