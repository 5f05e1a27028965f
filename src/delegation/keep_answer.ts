import { join } from "@std/path";
import { isId, writeAll } from "../base/mod.ts";
import type { AnswerFile } from "./answer_file.ts";
import type { DelegationIds } from "./delegation_ids.ts";

/** Where whole answers are kept: the runtime directory of the session that delegated. */
export interface AnswerKeep {
  readonly runtime: string;
  readonly delegationId: string;
  /** Any other id never names a file. */
  readonly minted: Pick<DelegationIds, "has">;
}

/** The largest answer that is kept, bytes. */
export const MAX_KEPT_BYTES = 64 * 1024 * 1024;

const FOLDER = "delegations";
const CHUNK_BYTES = 64 * 1024;
const FULL = /\(os error (28|122)\)/;
const FORBIDDEN = /\(os error (1|13|30)\)/;

/** A kept answer's place below the runtime directory: what its reader is told. */
export function keptName(delegationId: string): string {
  return `${FOLDER}/${delegationId}.txt`;
}

/**
 * Keeps a whole answer once, 0600 in a folder of 0700, streamed in flat memory; a reader sees nothing of it or all. Gives
 * why it is not kept, or nothing when it is. Follows no link, and never throws.
 */
export async function keepAnswer(
  file: Pick<AnswerFile, "handle" | "bytes">,
  { runtime, delegationId, minted }: AnswerKeep,
): Promise<string | undefined> {
  if (!isId(delegationId, "dlg") || !minted.has(delegationId)) return "its delegation is not one of this launcher's";
  if (file.bytes > MAX_KEPT_BYTES) return "too large";
  const folder = join(runtime, FOLDER);
  const path = join(runtime, keptName(delegationId));
  const temporary = join(folder, `.${delegationId}.${crypto.randomUUID()}.tmp`);
  try {
    const fault = openFolder(runtime, folder);
    if (fault !== undefined) return fault;
    const there = lookAt(path);
    if (there !== undefined) return there.isFile ? undefined : "something else stands in its place";
    if (!await copy(file, temporary)) return "too large";
    Deno.renameSync(temporary, path);
    return undefined;
  } catch (error) {
    return whyNot(error);
  } finally {
    removeQuietly(temporary);
  }
}

/** Makes the folder when it is missing; names what is wrong with it otherwise. */
function openFolder(runtime: string, folder: string): string | undefined {
  if (lookAt(runtime)?.isDirectory !== true) return "the runtime directory is no folder";
  const there = lookAt(folder);
  if (there === undefined) Deno.mkdirSync(folder, { mode: 0o700 });
  else if (there.isSymlink) return `a link stands at ${FOLDER}`;
  else if (!there.isDirectory) return `${FOLDER} is no folder`;
  return undefined;
}

/** Whether all of it was copied: what grew beyond the bound meanwhile is not. */
async function copy({ handle }: Pick<AnswerFile, "handle">, path: string): Promise<boolean> {
  using target = await Deno.open(path, { write: true, createNew: true, mode: 0o600 });
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (let at = 0;;) {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) return true;
    at += bytesRead;
    if (at > MAX_KEPT_BYTES) return false;
    writeAll(target, chunk.subarray(0, bytesRead));
  }
}

function lookAt(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** In words for the reader of the answer: no path of the host's. */
function whyNot(error: unknown): string {
  const reason = error instanceof Error ? error.message : "";
  if (FULL.test(reason)) return "the disk is full";
  return FORBIDDEN.test(reason) ? "the folder cannot be written" : "it could not be copied";
}

function removeQuietly(path: string): void {
  try {
    Deno.removeSync(path);
  } catch { /* it is where it belongs, or never was */ }
}
