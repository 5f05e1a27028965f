/** A session that has been taken over looks into folders from every thread that it gets. Only a variant executable holds this module. */
import type { SpawnPayload } from "../../../src/protocol/control/mod.ts";

const MARK = "//attack\n";

/** The task of a session that reads each of these folders again and again. */
export function attackOn(folders: readonly string[]): string {
  return MARK + JSON.stringify(folders);
}

/** Is the session's task to read folders? */
export function isAttack({ instruction }: Pick<SpawnPayload, "instruction">): boolean {
  return instruction.startsWith(MARK);
}

/**
 * How often each folder came to what. Asynchronous reading of a folder is what the runtime does on a thread of its pool (a
 * file it opens on the calling thread), and many at once leave no thread out.
 */
export async function attackFolders({ instruction }: Pick<SpawnPayload, "instruction">) {
  const folders: string[] = JSON.parse(instruction.slice(MARK.length));
  const found: Record<string, Record<string, number>> = {};
  for (const folder of folders) {
    const counts: Record<string, number> = found[folder] = {};
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.all(Array.from({ length: AT_ONCE }, async () => {
        const outcome = await readFolder(folder).then(() => "read", (error) => error.name);
        counts[outcome] = (counts[outcome] ?? 0) + 1;
      }));
    }
  }
  return found;
}

async function readFolder(folder: string): Promise<void> {
  for await (const _ of Deno.readDir(folder)) return;
}

const ROUNDS = 100;
const AT_ONCE = 16;

/** How often {@link attackFolders} tries each folder. */
export const TRIES: number = ROUNDS * AT_ONCE;
