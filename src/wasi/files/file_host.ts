import { shellWord } from "../../base/mod.ts";
import { type FileError, fileErrorOf } from "./file_error.ts";
import type { Denial, Preopen, WasiOptions } from "../host.ts";
import type { OpenFile } from "./open_file.ts";
import { type Folder, hostPath } from "./place.ts";
import type { Usage } from "../usage.ts";

const FIRST_SCRATCH_BYTES = 65_536;
const MAX_DENIALS = 100;

/** What all descriptors of one run share. */
export class FileHost {
  readonly usage: Usage;
  readonly preopens: readonly Preopen[];
  readonly makeSymlink: WasiOptions["makeSymlink"];
  readonly openFiles: Set<OpenFile> = new Set();
  readonly #folders = new Set<Folder>();
  readonly #onDenied: (denial: Denial) => void;
  readonly #told = new Set<string>();
  #scratch = new Uint8Array(FIRST_SCRATCH_BYTES);

  constructor(options: WasiOptions, usage: Usage) {
    this.usage = usage;
    this.preopens = options.preopens;
    this.makeSymlink = (place) => options.makeSymlink(place);
    this.#onDenied = (denial) => options.onDenied(denial);
  }

  /**
   * A buffer for one read. The glue copies what a call returns into the guest before the next call, so all reads
   * share it; it is not cleared.
   */
  scratch(bytes: number): Uint8Array {
    if (bytes > this.#scratch.length) this.#scratch = new Uint8Array(bytes);
    return this.#scratch.subarray(0, bytes);
  }

  /** Runs `act`, and turns whatever it throws into a WASI error code (a TypeError of this code stays a trap). */
  attempt<T>(folder: { readonly preopen: Preopen }, asked: string, act: () => T): T {
    try {
      return act();
    } catch (error) {
      if (typeof error === "string") {
        if (error === "read-only") this.deny(folder.preopen, "write", asked);
        throw error;
      }
      if (error instanceof Deno.errors.NotCapable) this.deny(folder.preopen, "open", asked);
      throw isHostFault(error) ? error : fileErrorOf(error);
    }
  }

  /** Reports a refusal, each once and the first hundred of a run. */
  deny(preopen: Preopen, verb: "open" | "write", path: string): void {
    const asked = `${verb} ${path.startsWith("/") ? path : `${preopen.guest}/${path}`}`;
    if (this.#told.size >= MAX_DENIALS || this.#told.has(asked)) return;
    this.#told.add(asked);
    const allow = verb === "write"
      ? `--mount ${shellWord(`${preopen.host}:${preopen.guest}:rw`)}`
      : "--mount HOST:GUEST";
    this.#onDenied({ grant: "fs", asked, allow });
  }

  addFolder(folder: Folder): Folder {
    this.#folders.add(folder);
    return folder;
  }

  dropFolder(folder: Folder): void {
    this.#folders.delete(folder);
  }

  /** Moves the paths of open folders along with the guest's own rename of `from` to `to`. */
  moveFolders(from: { index: number; parts: readonly string[] }, to: Folder, toParts: readonly string[]): void {
    for (const folder of this.#folders) {
      if (folder.index !== from.index || !startsWith(folder.parts, from.parts)) continue;
      folder.preopen = to.preopen;
      folder.index = to.index;
      folder.parts = [...toParts, ...folder.parts.slice(from.parts.length)];
    }
  }

  /** Closes every file left open. */
  close(): void {
    for (const open of [...this.openFiles]) open.close();
    this.#folders.clear();
  }
}

/** Opens `folder` itself, checks that it still is what it was, runs `act` on the handle and closes it. */
export function withFolderHandle<T>(folder: Folder, act: (file: Deno.FsFile) => T): T {
  const file = Deno.openSync(hostPath(folder), { read: true });
  try {
    const info = file.statSync();
    if (info.dev !== folder.info.dev || info.ino !== folder.info.ino) throw "no-entry" satisfies FileError;
    return act(file);
  } finally {
    file.close();
  }
}

// Deno's own file errors that are TypeErrors carry a code (EINVAL); one without is a fault of this host.
function isHostFault(error: unknown): boolean {
  if (!(error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError)) return false;
  return (error as { code?: unknown }).code === undefined && !/\(os error \d+\)/.test(error.message);
}

function startsWith(parts: readonly string[], head: readonly string[]): boolean {
  return parts.length >= head.length && head.every((part, at) => parts[at] === part);
}
