import { assertEquals } from "@std/assert";
import type { Bed } from "../harness.ts";
import { environmentOf, waitForEnd } from "../processes.ts";

/** The pids of every living process that was started with a place of this bed in its environment: boll and its cells. */
export function processesOf(bed: Pick<Bed, "root">): number[] {
  const pids: number[] = [];
  for (const { name } of Deno.readDirSync("/proc")) {
    if (/^\d+$/.test(name) && belongsTo(bed, Number(name))) pids.push(Number(name));
  }
  return pids;
}

/** The cells of a boll, by what their environment says of their parent: also those that it has lost. */
export function cellsOf(bed: Bed, parentPid: number): number[] {
  return processesOf(bed).filter((pid) => readEnvironment(pid)["BOLL_PARENT_PID"] === String(parentPid));
}

/** Checks that an ended run left no process and no temporary folder. */
export function assertNothingLeft(bed: Bed): void {
  assertEquals(processesOf(bed), []);
  assertEquals(temporaryFolders(bed), []);
}

/** Waits until no process of the bed is left; for a boll that was killed and could not see to it itself. */
export async function waitForNoProcess(bed: Bed): Promise<void> {
  for (const pid of processesOf(bed)) await waitForEnd(pid);
}

/** The names of the bed's temporary folders. */
export function temporaryFolders(bed: Bed): string[] {
  try {
    return [...Deno.readDirSync(`${bed.root}/run/boll`)].map(({ name }) => name);
  } catch {
    return [];
  }
}

function belongsTo(bed: Pick<Bed, "root">, pid: number): boolean {
  return Object.values(readEnvironment(pid)).some((value) => value.startsWith(`${bed.root}/`));
}

/** Empty for a process that is gone, or dead and not yet collected. */
function readEnvironment(pid: number): Record<string, string> {
  try {
    return environmentOf(pid);
  } catch {
    return {};
  }
}
