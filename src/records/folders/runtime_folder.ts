import { isAbsolute, join } from "@std/path";
import { CapsuleError, hostHint } from "../../base/mod.ts";
import { FolderLock } from "./folder_lock.ts";
import type { ReadVariable } from "./home.ts";
import { folderFault } from "./private_folder.ts";
import { removeTree } from "../garbage/remove_tree.ts";

/** Longest path of a temporary folder, bytes: a socket's name below it must fit the 107 bytes of the kernel. */
export const MAX_RUNTIME_PATH_BYTES = 80;

const NAME_BYTES = 9; // "/" and 8 hex

/**
 * A fresh private folder; `remove` (or leaving a `using` block) deletes it with all below. More than once is harmless, and
 * what resists is left to `gc`.
 */
export interface TemporaryFolder {
  readonly path: string;
  remove(): void;
  [Symbol.dispose](): void;
}

/**
 * The folder for private sockets: `$XDG_RUNTIME_DIR/boll`, else `/tmp/boll-<uid>`; made 0700 when missing.
 * @throws `runtime.unusable` when it is a link, someone else's, or open to others
 */
export function runtimeFolder(readVariable: ReadVariable = (name) => Deno.env.get(name)): string {
  const own = readVariable("XDG_RUNTIME_DIR");
  if (own && isAbsolute(own) && fits(join(own, "boll")) && isOurs(own)) {
    const path = join(own, "boll");
    if (makePrivate(path) === undefined) return path;
  }
  const path = `/tmp/boll-${Deno.uid() ?? "user"}`;
  const fault = makePrivate(path);
  if (fault === undefined) return path;
  throw new CapsuleError(
    "runtime.unusable",
    `Open runtime folder: ${path} is ${fault}; remove it, or set XDG_RUNTIME_DIR to a folder of your own`,
  );
}

/**
 * Makes a fresh 0700 folder below `parent`, a private one: a child's HOME and TMPDIR, and the socket to it. Its lock is
 * held until it is removed, so that a `gc` knows the folders of the dead.
 * @throws `runtime.unusable`
 */
export function makeTemporaryFolder(parent: string = runtimeFolder()): TemporaryFolder {
  for (let attempt = 0;; attempt++) {
    const path = join(parent, randomName());
    try {
      Deno.mkdirSync(path, { mode: 0o700 });
    } catch (error) {
      if (error instanceof Deno.errors.AlreadyExists && attempt < 16) continue;
      const reason = error instanceof Error ? error.message : String(error);
      const hint = hostHint(error) ?? "set XDG_RUNTIME_DIR to a folder of your own";
      throw new CapsuleError("runtime.unusable", `Make temporary folder: ${path} (${reason}); ${hint}`, {
        cause: error,
      });
    }
    const lock = lockFresh(path);
    if (lock === "taken" && attempt < 16) continue;
    const remove = () => {
      try {
        removeTree(path);
      } catch { /* how the run ended counts for more; a later gc takes it */ }
      if (lock instanceof FolderLock) lock.release();
    };
    return { path, remove, [Symbol.dispose]: remove };
  }
}

/** `taken` when a `gc` saw the folder in the moment before it was locked; `none` where folders have no locks. */
function lockFresh(path: string): FolderLock | "taken" | "none" {
  try {
    return FolderLock.tryTake(path, "own") ?? "taken";
  } catch (error) {
    return error instanceof Deno.errors.NotFound ? "taken" : "none";
  }
}

function fits(path: string): boolean {
  return new TextEncoder().encode(path).length + NAME_BYTES <= MAX_RUNTIME_PATH_BYTES;
}

function isOurs(path: string): boolean {
  try {
    const fault = folderFault(path);
    return fault === undefined || fault === "readable by others";
  } catch {
    return false;
  }
}

/** Makes the folder when it is missing; names what is wrong with it otherwise. */
function makePrivate(path: string): string | undefined {
  try {
    if (folderFault(path) === "missing") {
      try {
        Deno.mkdirSync(path, { mode: 0o700 });
      } catch (error) {
        if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
      }
    }
    return folderFault(path);
  } catch (error) {
    return `not usable (${error instanceof Error ? error.message : String(error)})`;
  }
}

function randomName(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(4)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
