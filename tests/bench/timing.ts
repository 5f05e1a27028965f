/** Something to time: a whole command, from spawn to exit. */
export interface Candidate {
  readonly name: string;
  /** Absolute path of the program. */
  readonly program: string;
  readonly args: readonly string[];
  /** Added to a cleared environment of `PATH` and `HOME`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Called before each run, untimed. */
  readonly prepare?: () => void;
  /** Fewer rounds than the others have, for a slow one. */
  readonly maxRounds?: number;
}

/** What some runs of one candidate took. */
export interface Timing {
  readonly name: string;
  readonly runs: number;
  readonly medianMs: number;
  readonly minMs: number;
  readonly maxMs: number;
}

/**
 * Runs the candidates in turn, A B C A B C …, so that a machine whose speed drifts slows them all alike; one round
 * first is not counted. Gives one timing each, in the order given.
 *
 * @throws Error when a run does not exit with 0: what failed is not worth timing.
 */
export async function interleave(candidates: readonly Candidate[], rounds: number): Promise<Timing[]> {
  const samples = candidates.map((): number[] => []);
  for (let round = -1; round < rounds; round++) {
    for (const [index, candidate] of candidates.entries()) {
      if (round >= (candidate.maxRounds ?? rounds)) continue;
      const elapsedMs = await timeOnce(candidate);
      if (round >= 0) samples[index]!.push(elapsedMs);
    }
  }
  return candidates.map(({ name }, index) => summarize(name, samples[index]!));
}

/** Median and extremes. @throws RangeError for no samples */
export function summarize(name: string, samplesMs: readonly number[]): Timing {
  if (samplesMs.length === 0) throw new RangeError(`Summarize ${name}: found no samples, wanted at least 1`);
  const sorted = [...samplesMs].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)]!;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1]!;
  return { name, runs: sorted.length, medianMs: (lower + upper) / 2, minMs: sorted[0]!, maxMs: sorted.at(-1)! };
}

/** The smallest sample that `percent` (above 0, up to 100) of all samples do not exceed. @throws RangeError for none */
export function percentile(samples: readonly number[], percent: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const found = sorted[Math.ceil(sorted.length * percent / 100) - 1];
  if (found === undefined) throw new RangeError(`Take percentile ${percent}: found no such sample`);
  return found;
}

/** What one of `count` operations took, µs: a run with them less a run with none. */
export function differenceUs(none: Timing, all: Timing, count: number): number {
  return (all.medianMs - none.medianMs) * 1000 / count;
}

async function timeOnce({ name, program, args, env, prepare }: Candidate): Promise<number> {
  prepare?.();
  const command = new Deno.Command(program, {
    args: [...args],
    clearEnv: true,
    env: { PATH: Deno.env.get("PATH") ?? "", HOME: Deno.env.get("HOME") ?? "", ...env },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  });
  const startedAt = performance.now();
  const { code, stderr } = await command.output();
  const elapsedMs = performance.now() - startedAt;
  if (code !== 0) {
    throw new Error(`Time ${name}: found exit code ${code}, wanted 0\n${new TextDecoder().decode(stderr)}`);
  }
  return elapsedMs;
}
