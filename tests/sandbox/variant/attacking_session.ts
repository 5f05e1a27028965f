/** A session that has been taken over opens files from every thread that it gets. Only a variant executable holds this module. */
import type { SpawnPayload } from "../../../src/protocol/control/mod.ts";

const MARK = "//attack\n";

/** The task of a session that opens each of these files again and again. */
export function attackOn(paths: readonly string[]): string {
  return MARK + JSON.stringify(paths);
}

/** Is the session's task to open files? */
export function isAttack({ instruction }: Pick<SpawnPayload, "instruction">): boolean {
  return instruction.startsWith(MARK);
}

/** How often each way to open it came to what: asynchronously, many at once, so that no thread of the pool is left out. */
export async function attackFiles({ instruction }: Pick<SpawnPayload, "instruction">) {
  const paths: string[] = JSON.parse(instruction.slice(MARK.length));
  const found: Record<string, Record<string, number>> = {};
  for (const path of paths) {
    const counts: Record<string, number> = found[path] = {};
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.all(Array.from({ length: AT_ONCE }, async () => {
        const outcome = await Deno.open(path).then((file) => (file.close(), "opened"), (error) => error.name);
        counts[outcome] = (counts[outcome] ?? 0) + 1;
      }));
    }
  }
  return found;
}

const ROUNDS = 100;
const AT_ONCE = 16;

/** How often {@link attackFiles} tries each file. */
export const TRIES: number = ROUNDS * AT_ONCE;
