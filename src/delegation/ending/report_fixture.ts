/**
 * A child that reports its ending and may be killed at it: `report_fixture.ts RECORD URL`.
 * @module
 */
import { assertEquals } from "@std/assert";
import { COMPLETION } from "../../records/completion_fixture.ts";
import type { SpawnerHandle } from "../../session/mod.ts";
import { reportCompletion } from "./report_completion.ts";

/** How a child ended, as it says itself. */
export const ENDED = COMPLETION;

/** Whose child it is; with an address, where it reports to. */
export function spawnerOf(url?: string): SpawnerHandle {
  const lineage = { session_id: "ses_1", context_id: "ctx_1", delegation_id: ENDED.delegation_id };
  return url === undefined ? lineage : { ...lineage, url };
}

/** A place for its record, where nothing else may be left. */
export async function withRecord(run: (places: { completion: string }) => Promise<void>): Promise<void> {
  const folder = Deno.makeTempDirSync();
  try {
    await run({ completion: `${folder}/completion.json` });
    assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name), ["completion.json"]);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
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
