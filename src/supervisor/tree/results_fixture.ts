/** Sessions that tell their result and go at once, and, when it is started, a supervisor that has so many of them. */
import { encodeFrame } from "../../protocol/mod.ts";
import type { SessionLaunch } from "./session_launch.ts";
import { tinyProgram } from "./tiny_program_fixture.ts";
import { payloadFor, SAY_READY, sayResult, shellLaunch, WatchedTree } from "./tree_fixture.ts";

/** What a supervisor is to do: answers from `first` on, of which so many at once. */
export interface ResultsTask {
  readonly program?: string;
  readonly first: number;
  readonly sessions: number;
  readonly atOnce: number;
}

/** What was lost, and what is left. */
export interface ResultsReport {
  readonly lost: readonly string[];
  readonly records: number;
  readonly reservations: number;
}

/** The smallest answer: all have as many digits, so that one program can tell them. */
export const FIRST_ANSWER = 1_000_000;

/** Writes the program that says `ready` and its answer and goes; undefined where a shell has to do it. */
export function writeAnswering(folder: string): string | undefined {
  const whole = encodeFrame(JSON.parse(resultText(FIRST_ANSWER)));
  const head = new Uint8Array([...encodeFrame({ type: "ready" }), ...whole.subarray(0, 4)]);
  const bytes = tinyProgram({ head, argumentBytes: whole.length - 4 });
  if (bytes === undefined) return undefined;
  const program = `${folder}/answers`;
  Deno.writeFileSync(program, bytes, { mode: 0o700 });
  return program;
}

function resultText(answer: number): string {
  return JSON.stringify({ type: "result", outcome: { status: "completed", partial: false, result: answer } });
}

function launch(answer: number, program: string | undefined): SessionLaunch {
  if (program === undefined) return shellLaunch(`${SAY_READY}; ${sayResult(answer)}`);
  return { program, args: [resultText(answer)], env: {}, payload: payloadFor() };
}

async function countLost({ program, first, sessions, atOnce }: ResultsTask): Promise<ResultsReport> {
  await using tree = new WatchedTree();
  let next = first;
  const lost: string[] = [];
  const worker = async () => {
    while (next < first + sessions) {
      const answer = next++;
      const { path, status, outcome } = await tree.spawn(launch(answer, program)).ended;
      if (status !== "completed" || outcome?.result !== answer) lost.push(`${answer} at ${path}: ${status}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return { lost, records: tree.records.length, reservations: tree.supervisor.budget.holders };
}

if (import.meta.main) console.log(JSON.stringify(await countLost(JSON.parse(Deno.args[0]!))));
