import type { EndReason } from "../../../src/supervisor/tree/mod.ts";
import { childrenOf, waitForEnd } from "../../processes.ts";
import { BenchTree } from "./bench_tree.ts";
import type { Spread, TreeSetup } from "./setup.ts";
import { spreadOf } from "./spread.ts";

/** What it takes to start and to end a session, one at a time; ms. */
export interface StartsResult {
  readonly runs: number;
  /** An empty compiled program, whole. */
  readonly empty: Spread;
  /** Until the session's process follows its supervisor. */
  readonly up: Spread;
  /** Until its guest is about to run. */
  readonly ready: Spread;
  /** Until its answer is on record and it is reaped. */
  readonly whole: Spread;
  /** From the verdict on a busy session to its record, reaped. */
  readonly killed: Spread;
  /** … and until its cell is gone. */
  readonly cellGone: Spread;
}

export const KILLED: EndReason = { status: "cancelled", ended_by: "terminated", detail: "the bench has seen enough" };

/** Ticks of the processor that a busy cell has used, 10 ms each. */
const BUSY_TICKS = 3;

/** Runs in turn the empty program, a session that ends by itself, and one that is killed; one round is not counted. */
export async function timeStarts(setup: TreeSetup): Promise<StartsResult> {
  await using tree = new BenchTree(setup);
  const samples = { empty: [], up: [], ready: [], whole: [], killed: [], cellGone: [] } as Record<string, number[]>;
  for (let round = -1; round < setup.rounds.starts; round++) {
    const found = {
      empty: await timeEmpty(setup),
      ...await timeWhole(tree, setup.guests.hello),
      ...await timeKill(tree, setup.guests.loop),
    };
    if (round >= 0) { for (const [name, ms] of Object.entries(found)) samples[name]!.push(ms); }
  }
  const spreads = Object.fromEntries(Object.entries(samples).map(([name, values]) => [name, spreadOf(values)]));
  return { runs: setup.rounds.starts, ...spreads as Omit<Record<keyof StartsResult, Spread>, "runs"> };
}

async function timeEmpty({ programs, environment }: TreeSetup): Promise<number> {
  const startedAt = performance.now();
  const command = new Deno.Command(programs.empty, { clearEnv: true, env: { ...environment }, stdin: "null" });
  const { success } = await command.output();
  if (!success) throw new Error("Time the empty program: it failed");
  return performance.now() - startedAt;
}

async function timeWhole(tree: BenchTree, guest: string): Promise<{ up: number; ready: number; whole: number }> {
  const startedAt = performance.now();
  const { child, upMs, readyMs } = tree.startGuest(guest);
  const [up, ready] = [await upMs, await readyMs];
  const { status, detail, tail } = await child.ended;
  if (status !== "completed") throw new Error(`Time a session: it ended as ${status}: ${detail} ${tail}`);
  return { up, ready, whole: performance.now() - startedAt };
}

async function timeKill(tree: BenchTree, guest: string): Promise<{ killed: number; cellGone: number }> {
  const { child, readyMs } = tree.startGuest(guest);
  await readyMs;
  const [cell] = childrenOf(child.node().pid);
  if (cell === undefined) throw new Error("Time a kill: the session has no cell");
  await untilBusy(cell);
  const killedAt = performance.now();
  child.kill(KILLED);
  const ended = child.ended.then(() => performance.now() - killedAt);
  const gone = waitForEnd(cell).then(() => performance.now() - killedAt);
  return { killed: await ended, cellGone: await gone };
}

async function untilBusy(pid: number): Promise<void> {
  const before = ticksOf(pid);
  while (ticksOf(pid) - before < BUSY_TICKS) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** The processor's time that a process has had. */
function ticksOf(pid: number): number {
  const text = Deno.readTextFileSync(`/proc/${pid}/stat`);
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}
