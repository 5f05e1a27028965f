import { constants } from "node:fs";
import * as fs from "node:fs";
import { extname } from "@std/path";
import { printableLine } from "../../base/mod.ts";

/** A file that a task left for whoever asked. */
export interface FoundArtifact {
  /** Below the folder, with `/` between its parts. */
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** Something in the folder that is not handed on. */
export interface RefusedArtifact {
  readonly name: string;
  readonly reason: string;
}

/** What lay in the folder before a task: by name, what tells one version of a file from another. */
export type Before = ReadonlyMap<string, string>;

/** How much of a task is handed on. */
export const ARTIFACT_BOUNDS = { files: 64, bytes: 8 * 1024 * 1024, depth: 8, entries: 4_096 } as const;

// Links are not followed, FIFOs do not wait. (Both flags are absent on Windows.)
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".txt": "text/plain",
  ".md": "text/markdown",
  ".csv": "text/csv",
  ".html": "text/html",
  ".xml": "application/xml",
  ".json": "application/json",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".svg": "image/svg+xml",
  ".pdf": "application/pdf",
};

/** What lies in `folder` now, so that a task which shares it hands on its own files alone. */
export function lookBefore(folder: string): Before {
  const before = new Map<string, string>();
  new Walk(folder, () => {}).each((_, name, info) => void before.set(name, versionOf(info)));
  return before;
}

/**
 * The regular files below `folder`, which a guest has made; it must be dead. No link is followed, neither to a file nor
 * to a folder; what is none of a file's business, or too much, is refused by its name.
 */
export function collectArtifacts(
  folder: string,
  before: Before = new Map(),
): { readonly found: readonly FoundArtifact[]; readonly refused: readonly RefusedArtifact[] } {
  const found: FoundArtifact[] = [];
  const refused: RefusedArtifact[] = [];
  const refuse = (name: string, reason: string) => {
    if (refused.length < ARTIFACT_BOUNDS.files) refused.push({ name: printableLine(name, 200), reason });
  };
  let room: number = ARTIFACT_BOUNDS.bytes;
  new Walk(folder, refuse).each((path, name, info, chain) => {
    if (before.get(name) === versionOf(info)) return;
    if (found.length >= ARTIFACT_BOUNDS.files) return refuse(name, `more than ${ARTIFACT_BOUNDS.files} files`);
    if (info.size > room) return refuse(name, `more than ${ARTIFACT_BOUNDS.bytes} bytes in all`);
    const bytes = readPlain(path, info, chain);
    if (bytes === undefined) return refuse(name, "it cannot be read as a file of this task");
    room -= bytes.length;
    const mediaType = MEDIA_TYPES[extname(name).toLowerCase()] ?? "application/octet-stream";
    found.push({ name: printableLine(name, 200), mediaType, bytes });
  });
  return { found, refused };
}

/** A folder that was looked at on the way. */
interface Passed {
  readonly path: string;
  readonly info: Deno.FileInfo;
}

type OnFile = (path: string, name: string, info: Deno.FileInfo, chain: readonly Passed[]) => void;

class Walk {
  readonly #root: string;
  readonly #refuse: (name: string, reason: string) => void;
  #entries = 0;

  constructor(root: string, refuse: (name: string, reason: string) => void) {
    this.#root = root;
    this.#refuse = refuse;
  }

  each(onFile: OnFile): void {
    const info = look(this.#root);
    if (info === undefined) return;
    if (!info.isDirectory || info.isSymlink) return this.#refuse("out", "it is no folder");
    this.#enter("", [{ path: this.#root, info }], onFile);
  }

  #enter(prefix: string, chain: readonly Passed[], onFile: OnFile): void {
    for (const entry of listSorted(chain.at(-1)!.path)) {
      const name = `${prefix}${entry}`;
      if (++this.#entries > ARTIFACT_BOUNDS.entries) {
        if (this.#entries === ARTIFACT_BOUNDS.entries + 1) {
          this.#refuse(name, "too many entries, this and what follows");
        }
        return;
      }
      const path = `${this.#root}/${name}`;
      const info = look(path);
      if (info === undefined) this.#refuse(name, "its name cannot be read");
      else if (info.isSymlink) this.#refuse(name, "it is a link");
      else if (info.isFile) onFile(path, name, info, chain);
      else if (!info.isDirectory) this.#refuse(name, "it is no regular file");
      else if (chain.length > ARTIFACT_BOUNDS.depth) this.#refuse(name, `deeper than ${ARTIFACT_BOUNDS.depth} folders`);
      else this.#enter(`${name}/`, [...chain, { path, info }], onFile);
    }
  }
}

/** Of a million names only as many are held as are looked at. */
function listSorted(folder: string): string[] {
  const names: string[] = [];
  try {
    for (const { name } of Deno.readDirSync(folder)) {
      names.push(name);
      if (names.length > ARTIFACT_BOUNDS.entries) break;
    }
  } catch { /* it cannot be listed */ }
  return names.sort();
}

function look(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(path);
  } catch {
    return undefined;
  }
}

/** The bytes of a file, if what was looked at is what was opened, and no folder on the way is another one by now. */
function readPlain(path: string, info: Deno.FileInfo, chain: readonly Passed[]): Uint8Array | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = fs.openSync(path, FLAGS);
    const { dev, ino } = fs.fstatSync(descriptor);
    const isSame = dev === info.dev && ino === info.ino && chain.every(isStill);
    if (!isSame) return undefined;
    const bytes = new Uint8Array(info.size);
    let filled = 0;
    while (filled < bytes.length) {
      const count = fs.readSync(descriptor, bytes, filled, bytes.length - filled, filled);
      if (count === 0) break;
      filled += count;
    }
    return bytes.subarray(0, filled);
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) fs.closeSync(descriptor);
  }
}

function isStill({ path, info }: Passed): boolean {
  const now = look(path);
  return now !== undefined && !now.isSymlink && now.dev === info.dev && now.ino === info.ino;
}

function versionOf({ dev, ino, size, mtime, ctime }: Deno.FileInfo): string {
  return [dev, ino, size, mtime?.getTime(), ctime?.getTime()].join(":");
}
