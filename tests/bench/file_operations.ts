import { join } from "@std/path";
import { buildText } from "../fixtures/build.ts";
import type { Programs } from "./programs.ts";
import { type Candidate, interleave, type Timing } from "./timing.ts";

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

/** What one operation takes, µs, made by a guest behind all walls and made directly. */
export interface OperationTiming {
  readonly name: string;
  readonly guestUs: number;
  readonly directUs: number;
}

/**
 * Times each operation as a difference of whole commands: COUNT operations less none, both interleaved, so that
 * starting costs nothing here.
 */
export async function timeFileOperations(
  scratch: string,
  programs: Programs,
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
    const [guestNone, directNone, guestAll, directAll] = await interleave(candidates, rounds);
    results.push({
      name: operation.replaceAll("_", " "),
      guestUs: perOperationUs(guestNone!, guestAll!),
      directUs: perOperationUs(directNone!, directAll!),
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
  const text = Deno.readTextFileSync(join(import.meta.dirname!, "file_operations.wat"));
  const component = join(scratch, `${operation}_${count}.wasm`);
  Deno.writeFileSync(
    component,
    await buildText(text.replaceAll("OPERATION", operation).replaceAll("COUNT", `${count}`)),
  );
  return {
    name: `guest ${operation} × ${count}`,
    program: boll,
    args: ["run", "--quiet", "--accept", "--containment", "scoped", "--mount", `${data}:/data:rw`, component],
    env: { BOLL_HOME: join(scratch, "home") },
  };
}

function perOperationUs(none: Timing, all: Timing): number {
  return (all.medianMs - none.medianMs) * 1000 / COUNT;
}
