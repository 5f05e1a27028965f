import { join } from "@std/path";
import { buildText } from "../fixtures/build.ts";
import type { Peers } from "./peers.ts";
import type { Programs } from "./programs.ts";
import { shimCandidate } from "./shim.ts";
import { type Candidate, differenceUs, interleave } from "./timing.ts";

/** Names of the functions in `file_operations.wat`. */
const OPERATIONS = [
  "read_file",
  "write_file",
  "open_and_close",
  "open_and_close_deep",
  "stat_path",
  "stat_path_deep",
  "read_4096",
  "write_4096",
] as const;

/** Operations of one timed run; large against the spread of a start. */
const COUNT = 20_000;

/** Rounds of preview2-shim, whose operations take milliseconds. */
const SHIM_ROUNDS = 4;

/** What one operation takes, µs, made by a guest behind all walls, made directly, and on preview2-shim. */
export interface OperationTiming {
  readonly name: string;
  readonly guestUs: number;
  readonly directUs: number;
  readonly shimUs?: number;
}

/**
 * Times each operation as a difference of whole commands: COUNT operations less none, both interleaved, so that
 * starting costs nothing here.
 */
export async function timeFileOperations(
  scratch: string,
  programs: Programs,
  peers: Peers,
  rounds: number,
): Promise<OperationTiming[]> {
  const data = join(scratch, "data");
  const deep = join(data, "a", "b", "c");
  Deno.mkdirSync(deep, { recursive: true });
  for (const folder of [data, deep]) Deno.writeFileSync(join(folder, "bench.bin"), new Uint8Array(4096));
  const results: OperationTiming[] = [];
  for (const operation of OPERATIONS) {
    const candidates: Candidate[] = [];
    for (const count of [0, COUNT]) {
      candidates.push(await guestCandidate(scratch, data, programs, operation, count));
      candidates.push({
        name: `direct ${operation} × ${count}`,
        program: programs.rawFileOperations,
        args: [operation, String(count), data],
      });
    }
    candidates.push(...await shimCandidates(scratch, data, peers, operation));
    const [guestNone, directNone, guestAll, directAll, shimNone, shimAll] = await interleave(candidates, rounds);
    results.push({
      name: operation.replaceAll("_", " "),
      guestUs: differenceUs(guestNone!, guestAll!, COUNT),
      directUs: differenceUs(directNone!, directAll!, COUNT),
      ...(shimNone && shimAll ? { shimUs: differenceUs(shimNone, shimAll, shimCount(operation)) } : {}),
    });
  }
  return results;
}

async function guestCandidate(
  scratch: string,
  data: string,
  { boll }: Programs,
  operation: string,
  count: number,
): Promise<Candidate> {
  const component = await buildOperations(scratch, operation, count);
  return {
    name: `guest ${operation} × ${count}`,
    program: boll,
    args: ["run", "--quiet", "--accept", "--containment", "scoped", "--mount", `${data}:/data:rw`, component],
    env: { BOLL_HOME: join(scratch, "home") },
  };
}

async function shimCandidates(scratch: string, data: string, peers: Peers, operation: string): Promise<Candidate[]> {
  if (peers.kind === "absent") return [];
  const candidates: Candidate[] = [];
  for (const count of [0, shimCount(operation)]) {
    const component = await buildOperations(scratch, operation, count);
    const name = `shim ${operation} × ${count}`;
    candidates.push({ ...await shimCandidate(peers, { name, component, mount: data }), maxRounds: SHIM_ROUNDS });
  }
  return candidates;
}

/** Operations of one timed run of preview2-shim: all but `stat` cross to another thread there. */
function shimCount(operation: string): number {
  return operation.startsWith("stat") ? 5_000 : 500;
}

async function buildOperations(scratch: string, operation: string, count: number): Promise<string> {
  const text = Deno.readTextFileSync(join(import.meta.dirname!, "file_operations.wat"));
  const component = join(scratch, `${operation}_${count}.wasm`);
  Deno.writeFileSync(
    component,
    await buildText(text.replaceAll("OPERATION", operation).replaceAll("COUNT", `${count}`)),
  );
  return component;
}
