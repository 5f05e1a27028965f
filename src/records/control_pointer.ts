import { CapsuleError, writeFileWhole } from "../base/mod.ts";
import { openRecord, readAt } from "./open_record.ts";
import { requireOwnFolders } from "./folders/own_folders.ts";
import type { SessionPaths } from "./places.ts";

/** The longest path of a unix socket, bytes. */
const MAX_SOCKET_PATH_BYTES = 107;

/** Says, in the session's records, where its tree is asked. Quiet when it cannot: then nobody asks. */
export function writeControlPointer(paths: Pick<SessionPaths, "control">, socket: string): void {
  try {
    requireOwnFolders(paths.control);
    writeFileWhole(paths.control, `${socket}\n`, { mode: 0o600 });
  } catch { /* the run goes on */ }
}

/** Takes it back at the end. */
export function removeControlPointer(paths: Pick<SessionPaths, "control">): void {
  try {
    requireOwnFolders(paths.control);
    Deno.removeSync(paths.control);
  } catch { /* it was never written, or its folder is not ours any more */ }
}

/** Where the session's tree is asked; nothing when it does not say so. A link or a pipe there says nothing. */
export function readControlPointer(paths: Pick<SessionPaths, "control">): string | undefined {
  try {
    using file = openRecord(paths.control);
    const bytes = readAt(file, 0, MAX_SOCKET_PATH_BYTES + 2);
    const socket = new TextDecoder("utf-8", { fatal: true }).decode(bytes).trimEnd();
    return bytes.length <= MAX_SOCKET_PATH_BYTES + 1 && socket.startsWith("/") ? socket : undefined;
  } catch (error) {
    if (error instanceof CapsuleError || error instanceof TypeError) return undefined;
    throw error;
  }
}
