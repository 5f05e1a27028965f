import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "@std/path";
import { isId } from "../../base/mod.ts";

/** Where a child may have left its answer. Absolute, without links on the way to them. */
export interface AnswerPlaces {
  readonly records: string;
  readonly work: string;
  /** The task's own file goes before the session's. */
  readonly taskId?: string;
}

/** A file that was found and is open: `close` it. */
export interface AnswerFile {
  readonly path: string;
  readonly handle: FileHandle;
  readonly bytes: number;
}

/** What was found in the places, and the links in them that were refused. */
export interface FoundAnswer {
  readonly file?: AnswerFile;
  readonly refused: readonly string[];
}

// Links are not followed, FIFOs do not wait. (Both flags are absent on Windows.)
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * Opens the first regular file of the places, in their order; the child must be dead. A link on the way is refused, its
 * target never read, and stays refused for every further place behind it; what is anything else is passed over, unopened.
 */
export async function openAnswer({ records, work, taskId }: AnswerPlaces): Promise<FoundAnswer> {
  const ofTask = taskId !== undefined && isId(taskId, "tsk") ? [`result_${taskId}.txt`] : [];
  const refused = new Set<string>();
  for (const root of [records, work]) {
    for (const name of [...ofTask, "result.txt"]) {
      const file = await openPlain([root, join(root, "out"), join(root, "out", name)], refused);
      if (file !== undefined) return { file, refused: [...refused] };
    }
  }
  return { refused: [...refused] };
}

/** Opens the last of a chain of paths, each the folder of the next. What was looked at must be what was opened. */
async function openPlain(chain: readonly string[], refused: Set<string>): Promise<AnswerFile | undefined> {
  let handle: FileHandle | undefined;
  try {
    if (chain.some((path) => refused.has(path))) return undefined;
    const before = chain.map((path) => Deno.lstatSync(path));
    const link = chain.find((_, index) => before[index]!.isSymlink);
    if (link !== undefined) return void refused.add(link);
    if (!before.at(-1)!.isFile) return undefined;
    const path = chain.at(-1)!;
    handle = await open(path, FLAGS);
    const { dev, ino, size } = await handle.stat();
    const isSame = chain.every((path, index) => isUnchanged(before[index]!, Deno.lstatSync(path)));
    if (isSame && dev === before.at(-1)!.dev && ino === before.at(-1)!.ino) return { path, handle, bytes: size };
  } catch { /* not there, not ours to read: the next place */ }
  await handle?.close();
  return undefined;
}

function isUnchanged(before: Deno.FileInfo, after: Deno.FileInfo): boolean {
  return before.dev === after.dev && before.ino === after.ino && before.isSymlink === after.isSymlink;
}
