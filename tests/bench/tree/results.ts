import { SAY_READY, sayResult, shellLaunch } from "../../../src/supervisor/tree/tree_fixture.ts";
import { BenchTree } from "./bench_tree.ts";
import type { TreeSetup } from "./setup.ts";

/** Sessions that tell their result and go at once, and how it went for their supervisor. */
export interface ResultsResult {
  readonly sessions: number;
  readonly atOnce: number;
  readonly lost: number;
  /** What one took, ms. */
  readonly eachMs: number;
  /** What one took of the same programs, started and read by nobody's supervisor, ms. */
  readonly bareEachMs: number;
}

const AT_ONCE = 16;
/** Of the bare programs, one for so many sessions. */
const BARE_SHARE = 10;

/** More at once than there are cores, so that exits and output are read late and together. */
export async function countResults(setup: TreeSetup): Promise<ResultsResult> {
  const sessions = setup.rounds.results;
  const bare = Math.ceil(sessions / BARE_SHARE);
  const bareEachMs = await timeEach(bare, runBare);
  await using tree = new BenchTree(setup);
  let lost = 0;
  const eachMs = await timeEach(sessions, async (number) => {
    const { status, outcome } = await tree.start(() => launch(number)).child.ended;
    if (status !== "completed" || outcome?.result !== number) lost++;
  });
  return { sessions, atOnce: AT_ONCE, lost, eachMs, bareEachMs };
}

function launch(number: number) {
  return shellLaunch(`${SAY_READY}; ${sayResult(number)}`);
}

async function timeEach(count: number, run: (number: number) => Promise<void>): Promise<number> {
  let next = 0;
  const startedAt = performance.now();
  const worker = async () => {
    while (next < count) await run(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return (performance.now() - startedAt) / count;
}

async function runBare(number: number): Promise<void> {
  const { program, args, env } = launch(number);
  const command = new Deno.Command(program, {
    args: [...args],
    env: { ...env },
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    detached: true,
  });
  const child = command.spawn();
  child.stdin.close().catch(() => {});
  await child.output();
}
