import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path";
import type { Bed, TraceEvent } from "../harness.ts";
import { processesOf, temporaryFolders } from "../process/leftovers.ts";

const SESSION = /^ses_[0-9a-f]{32}$/;
const CACHE_KEY = /^[0-9a-f]{64}$/;

/** The events of a session; a torn line is a fault unless it is the last, which a crash may cut. */
export function wholeTrace(session: string): TraceEvent[] {
  const lines = Deno.readTextFileSync(join(session, "records", "trace.jsonl")).split("\n");
  return lines.flatMap((line, index) => {
    try {
      return line === "" ? [] : [JSON.parse(line)];
    } catch {
      assertEquals(index, lines.length - 1, `torn line in ${session}: ${line}`);
      return [];
    }
  });
}

/** Ids of the sessions that are there, oldest first. */
export function sessionsOf(home: string): string[] {
  return namesIn(join(home, "sessions")).filter((name) => SESSION.test(name)).sort();
}

/** What lies in sessions and cache and is neither: left half-made or half-removed. */
export function halfMade(home: string): string[] {
  return [
    ...namesIn(join(home, "sessions")).filter((name) => !SESSION.test(name)),
    ...namesIn(join(home, "cache")).filter((name) => !CACHE_KEY.test(name)),
  ];
}

/** Every record that is there can be read, and each session has one ending at most. */
export function assertWholeRecords(home: string): void {
  for (const id of sessionsOf(home)) {
    const session = join(home, "sessions", id);
    const ends = wholeTrace(session).filter(({ event }) => event === "session_end");
    assert(ends.length <= 1, `${ends.length} endings of ${id}`);
    for (const name of ["plan.json", "summary.json"]) {
      const text = readIfThere(join(session, "records", name));
      if (text !== undefined) JSON.parse(text);
    }
  }
}

/** No process, and after `boll gc` nothing in the runtime folder. */
export async function assertNothingAfterGc(bed: Bed): Promise<void> {
  assertEquals(processesOf(bed), []);
  const { code, stderr } = await bed.run(["gc"]);
  assertEquals([code, stderr], [0, ""]);
  assertEquals(temporaryFolders(bed), []);
}

/** Names in a folder; none when it is not there. */
export function namesIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
