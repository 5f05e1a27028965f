import { join } from "@std/path";
import { isId, writeAll } from "../../base/mod.ts";
import type { AnswerFile } from "./answer_file.ts";
import type { DelegationIds } from "../delegation_ids.ts";

/** A folder in which an answer is kept: names in it are found there, also when something else is put at its path. */
export interface KeepFolder extends Disposable {
  /** Makes a new file, 0600, and has `fill` write it. */
  create<T>(name: string, fill: (write: (bytes: Uint8Array<ArrayBuffer>) => void) => Promise<T>): Promise<T>;
  rename(from: string, to: string): void;
  remove(name: string): void;
}

/** Port: opens a folder in another, and makes it when there is none. Its errors say `(os error N)` as Deno's own do. */
export type OpenKeepFolder = (parent: string, name: string) => KeepFolder;

/** Where whole answers are kept: the runtime directory of the session that delegated. */
export interface AnswerKeep {
  readonly runtime: string;
  readonly delegationId: string;
  /** Any other id never names a file. */
  readonly minted: Pick<DelegationIds, "has">;
  /** Absent where the host has no such folders: then who can write in the runtime directory may move what is kept. */
  readonly openFolder?: OpenKeepFolder | undefined;
}

/** The largest answer that is kept, bytes. */
export const MAX_KEPT_BYTES = 64 * 1024 * 1024;

const FOLDER = "delegations";
const CHUNK_BYTES = 64 * 1024;
const FULL = /\(os error (28|122)\)/;
const FORBIDDEN = /\(os error (1|13|30)\)/;
/** Something else was put at the folder's name since it was looked at. */
const SWAPPED = /\(os error (20|40)\)/;

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
  { runtime, delegationId, minted, openFolder = openByPath }: AnswerKeep,
): Promise<string | undefined> {
  if (!isId(delegationId, "dlg") || !minted.has(delegationId)) return "its delegation is not one of this launcher's";
  if (file.bytes > MAX_KEPT_BYTES) return "too large";
  try {
    const fault = lookAround(runtime);
    if (fault !== undefined) return fault;
    const there = lookAt(join(runtime, keptName(delegationId)));
    if (there !== undefined) return there.isFile ? undefined : "something else stands in its place";
    using folder = openFolder(runtime, FOLDER);
    return await keepIn(folder, file, `${delegationId}.txt`);
  } catch (error) {
    return whyNot(error);
  }
}

async function keepIn(folder: KeepFolder, file: Pick<AnswerFile, "handle">, name: string): Promise<string | undefined> {
  const temporary = `.${name}.${crypto.randomUUID()}.tmp`;
  let isKept = false;
  try {
    if (!await folder.create(temporary, (write) => copy(file, write))) return "too large";
    folder.rename(temporary, name);
    isKept = true;
    return undefined;
  } finally {
    if (!isKept) removeQuietly(folder, temporary);
  }
}

/** What is wrong with the places, in words; what is put there afterwards is the folder's to withstand. */
function lookAround(runtime: string): string | undefined {
  if (lookAt(runtime)?.isDirectory !== true) return "the runtime directory is no folder";
  const there = lookAt(join(runtime, FOLDER));
  if (there?.isSymlink) return `a link stands at ${FOLDER}`;
  return there === undefined || there.isDirectory ? undefined : `${FOLDER} is no folder`;
}

/** Whether all of it was copied: what grew beyond the bound meanwhile is not. */
async function copy(
  { handle }: Pick<AnswerFile, "handle">,
  write: (bytes: Uint8Array<ArrayBuffer>) => void,
): Promise<boolean> {
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (let at = 0;;) {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) return true;
    at += bytesRead;
    if (at > MAX_KEPT_BYTES) return false;
    write(chunk.subarray(0, bytesRead));
  }
}

function openByPath(parent: string, name: string): KeepFolder {
  const path = join(parent, name);
  if (lookAt(path) === undefined) Deno.mkdirSync(path, { mode: 0o700 });
  return {
    async create(file, fill) {
      using target = await Deno.open(join(path, file), { write: true, createNew: true, mode: 0o600 });
      return await fill((bytes) => writeAll(target, bytes));
    },
    rename: (from, to) => Deno.renameSync(join(path, from), join(path, to)),
    remove: (file) => Deno.removeSync(join(path, file)),
    [Symbol.dispose]() {},
  };
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
  if (SWAPPED.test(reason)) return `${FOLDER} is no folder`;
  return FORBIDDEN.test(reason) ? "the folder cannot be written" : "it could not be copied";
}

function removeQuietly(folder: KeepFolder, name: string): void {
  try {
    folder.remove(name);
  } catch { /* it never was */ }
}
