import { assertEquals, assertMatch } from "@std/assert";
import { type Bed, type RunResult, type TraceEvent } from "../harness.ts";
import { type RunOptions } from "../running_boll.ts";

/** How a run ended: its exit code, and the status and cause that the trace and `--json` agree on. */
export type Ending = readonly [code: number, status: string, endedBy: string];

/** A capsule folder of the bed around the component at `path`, with these limits and grants. */
export function limitedCapsule(
  bed: Bed,
  path: string,
  limits: Readonly<Record<string, number>>,
  grants: Readonly<Record<string, unknown>> = {},
): string {
  const manifest = { name: "limited", version: "0.1.0", component: "guest.wasm", grants: { ...grants, limits } };
  const folder = bed.folder(`limited-${crypto.randomUUID()}`, { "capsule.jsonc": JSON.stringify(manifest) });
  Deno.copyFileSync(path, `${folder}/guest.wasm`);
  return folder;
}

/** Runs with `--json`, and gives the ending after checking that exit code, object and trace say the same. */
export async function endingOf(bed: Bed, args: readonly string[], options: RunOptions = {}): Promise<Ending> {
  const result = await bed.run(["run", "--json", "--accept", ...args], options);
  const { json } = result;
  const last = sessionEnd(bed);
  const recorded = [last.exit_code, last.status, last.ended_by];
  assertEquals([json?.["exit_code"], json?.["status"], json?.["ended_by"]], recorded, result.stderr);
  assertEquals(result.code, last.exit_code);
  return [result.code, String(last.status), String(last.ended_by)];
}

/** The last event of the newest session, which must be its end. */
export function sessionEnd(bed: Bed): TraceEvent & { status?: unknown; exit_code?: unknown; ended_by?: unknown } {
  const last = bed.trace().at(-1);
  assertEquals(last?.event, "session_end");
  return last!;
}

/** Checks that the last line of stderr is boll's and says `words`. */
export function assertLastLine(result: RunResult, words: RegExp): void {
  assertMatch(result.lastLine, /^boll: /);
  assertMatch(result.lastLine, words);
}
