/**
 * A child that reports its ending and may be killed at it: `report_fixture.ts RECORD URL`.
 * @module
 */
import type { Completion } from "../../records/mod.ts";
import type { SpawnerHandle } from "../../session/mod.ts";
import { reportCompletion } from "./report_completion.ts";

/** How a child ended, as it says itself. */
export const ENDED: Completion = {
  delegation_id: "dlg_01890000000070008000000000000001",
  capsule_name: "worker",
  capsule_version: "0.1.0",
  session_id: "ses_01890000000070008000000000000002",
  status: "ok",
  workdir: "/work/w",
  duration_ms: 42,
  reported_by: "child",
  delivered: false,
};

/** Whose child it is; with an address, where it reports to. */
export function spawnerOf(url?: string): SpawnerHandle {
  const lineage = { session_id: "ses_1", context_id: "ctx_1", delegation_id: ENDED.delegation_id };
  return url === undefined ? lineage : { ...lineage, url };
}

if (import.meta.main) {
  const [record, url] = Deno.args;
  await reportCompletion(ENDED, {
    places: { completion: record! },
    spawner: spawnerOf(url),
    warn: (line) => console.error(line),
    timeoutMs: 60_000,
  });
}
