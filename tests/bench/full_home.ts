import { join } from "@std/path";
import { newId } from "../../src/base/mod.ts";
import { fixture } from "../fixtures/build.ts";
import type { Programs } from "./programs.ts";
import { type Candidate, interleave, type Timing } from "./timing.ts";

/** The same run in a home that has next to nothing, and in one of many sessions with one huge trace. */
export interface FullHome {
  readonly sessions: number;
  readonly traceBytes: number;
  readonly almostEmpty: Timing;
  readonly full: Timing;
}

/** How full, and how often it is run. */
export interface FullHomeRounds {
  readonly runs: number;
  readonly sessions: number;
}

const TRACE_BYTES = 2 ** 30;

/** Fills a home with the records that one run left; the huge trace has a hole in it, which only who reads it would notice. */
export async function timeFullHome(scratch: string, programs: Programs, rounds: FullHomeRounds): Promise<FullHome> {
  const guest = await fixture("hello_stdio");
  const candidate = (name: string): Candidate => ({
    name,
    program: programs.boll,
    args: ["run", "--quiet", "--accept", "--containment", "scoped", guest],
    env: { BOLL_HOME: join(scratch, name) },
  });
  const candidates = [candidate("almost-empty-home"), candidate("full-home")];
  await interleave(candidates, 1);
  fill(join(scratch, "full-home", "sessions"), rounds.sessions);
  const [almostEmpty, full] = await interleave(candidates, rounds.runs);
  return { sessions: rounds.sessions, traceBytes: TRACE_BYTES, almostEmpty: almostEmpty!, full: full! };
}

/** The records of all are links to those of the first: a file system takes minutes for so many files of their own. */
function fill(folder: string, sessions: number): void {
  const model = [...Deno.readDirSync(folder)][0]!.name;
  const records = join(folder, model, "records");
  const files = [...Deno.readDirSync(records)].filter(({ isFile }) => isFile).map(({ name }) => name);
  for (let count = 1; count < sessions; count++) {
    const copy = join(folder, newId("ses"), "records");
    Deno.mkdirSync(copy, { recursive: true, mode: 0o700 });
    for (const name of files) Deno.linkSync(join(records, name), join(copy, name));
  }
  const huge = join(folder, newId("ses"), "records");
  Deno.mkdirSync(huge, { recursive: true, mode: 0o700 });
  for (const name of files) Deno.copyFileSync(join(records, name), join(huge, name));
  Deno.truncateSync(join(huge, "trace.jsonl"), TRACE_BYTES);
}
