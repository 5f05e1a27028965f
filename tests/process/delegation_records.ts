/** What a run that delegates leaves behind: what its guest read, and what the records of all its sessions say. */
import { assertMatch } from "@std/assert";
import type { Bed, TraceEvent } from "../harness.ts";

/** What a guest reads of one delegation: its id, how it ended, the fenced body. */
const HANDED_OVER =
  /^\[delegate-task\] delegation (dlg_[0-9a-f]{32}) to ([\w-]+)@0\.1\.0 ended (\w+):\n<untrusted-content source=delegation:\2>\nDelegated capsule finished\.\n([^]*)\n<\/untrusted-content>$/;

/** A delegation as its parent reads of it. */
export interface HandedOver {
  readonly id: string;
  readonly capsule: string;
  readonly status: string;
  readonly session: string;
  /** Empty when there is none. */
  readonly detail: string;
  readonly result: string;
}

/** Reads one outcome. @throws AssertionError when it is not of that form */
export function readHandedOver(text: unknown): HandedOver {
  assertMatch(String(text), HANDED_OVER);
  const [, id = "", capsule = "", status = "", body = ""] = HANDED_OVER.exec(String(text))!;
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(body)?.[1] ?? "";
  const result = /^result:[ \n]([^]*)$/m.exec(body)?.[1] ?? "";
  return { id, capsule, status, session: field("session_id"), detail: field("detail"), result };
}

/** The events of a session. */
export function traceOf(bed: Bed, session: string): TraceEvent[] {
  const text = Deno.readTextFileSync(`${bed.home}/sessions/${session}/records/trace.jsonl`);
  return text.trimEnd().split("\n").map((line) => JSON.parse(line));
}

/** The record of that name. */
export function recordOf(bed: Bed, session: string, name: "completion" | "plan" | "summary"): Record<string, unknown> {
  return JSON.parse(Deno.readTextFileSync(`${bed.home}/sessions/${session}/records/${name}.json`));
}

/** Ids of the sessions of the bed, oldest first: the run's own comes before those it started. */
export function sessionIds(bed: Bed): string[] {
  return bed.sessions().map((folder) => folder.split("/").at(-1)!);
}

/** A session as `boll ps` shows it. */
export interface ListedNode {
  readonly path: string;
  readonly session_id: string;
  readonly state: string;
  readonly pid: number;
}

/** What runs in the bed, once the session at `path` does. */
export async function untilRunning(bed: Bed, path: string): Promise<readonly ListedNode[]> {
  while (true) {
    const nodes = await listRunning(bed);
    if (nodes.some((node) => node.path === path && node.state === "running")) return nodes;
  }
}

/** What runs in the bed. */
export async function listRunning(bed: Bed): Promise<readonly ListedNode[]> {
  const { stdout } = await bed.run(["ps", "--json"]);
  return stdout.trimEnd().split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}

/** Capsule and status of each session of the bed, oldest first, as a verb that reads records says it. */
export async function endings(bed: Bed): Promise<string[][]> {
  const { stdout } = await bed.run(["sessions", "--json"]);
  return stdout.trimEnd().split("\n").map((line) => JSON.parse(line)).reverse().map(({ capsule, status }) => [
    ...[capsule, status],
  ]);
}
