import { join } from "@std/path";
import { openRecord, readAt, type RecordFile } from "./open_record.ts";
import type { SessionPaths } from "./places.ts";
import { entriesOf } from "./garbage/remove_tree.ts";

/** One log of a session. */
export interface SessionLog {
  readonly name: string;
  readonly path: string;
}

const LOG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\.(?:log|jsonl)$/;
const CHUNK_BYTES = 64 * 1024;

/** The logs of a session, `runtime/logs/*.log` and `*.jsonl`, by name; nothing when a link stands on the way. */
export function listLogs(paths: Pick<SessionPaths, "root" | "runtime">): SessionLog[] {
  const folder = join(paths.runtime, "logs");
  if ([paths.root, paths.runtime].some((path) => !isRealFolder(path))) return [];
  return entriesOf(folder).filter(({ name, isFile }) => isFile && LOG.test(name))
    .map(({ name }) => ({ name, path: join(folder, name) })).sort((a, b) => a.name < b.name ? -1 : 1);
}

/**
 * The bytes of a log, in flat memory: all of it, or from the start of a line within its last `tailBytes`.
 * @throws `records.not_found` | `records.unreadable`
 */
export function* readLog(path: string, tailBytes = Infinity): Generator<Uint8Array> {
  using file = openRecord(path);
  const start = lineStart(file, file.size - tailBytes);
  file.seek(start);
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (let read; (read = file.read(chunk)) !== null;) yield chunk.subarray(0, read);
}

/** How many bytes {@link readLog} leaves out with this limit. @throws `records.not_found` | `records.unreadable` */
export function omittedBytes(path: string, tailBytes: number): number {
  using file = openRecord(path);
  return lineStart(file, file.size - tailBytes);
}

/** The border of a line at or after an offset; the offset itself when none is near. */
function lineStart(file: RecordFile, offset: number): number {
  if (offset <= 0) return 0;
  return offset + readAt(file, offset, CHUNK_BYTES).indexOf(10) + 1;
}

function isRealFolder(path: string): boolean {
  try {
    return Deno.lstatSync(path).isDirectory;
  } catch {
    return false;
  }
}
