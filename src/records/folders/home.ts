import { CapsuleError, hostHint } from "../../base/mod.ts";
import { isAbsolute, join, resolve } from "@std/path";
import { folderFault } from "./private_folder.ts";

/** boll's home: absolute paths; all but `trust` are folders that exist. */
export interface Home {
  readonly root: string;
  readonly cache: string;
  readonly sessions: string;
  /** The file of trusted workspaces and accepted capsules; may be absent. */
  readonly trust: string;
}

/** Reads one variable of the environment. */
export type ReadVariable = (name: string) => string | undefined;

const HINT = "set BOLL_HOME to a folder of your own";

/**
 * Where the home is: `$BOLL_HOME`, else `$XDG_DATA_HOME/boll`, else `~/.boll` (docs/records.md, "Places on disk"). An empty
 * variable counts as unset, and so does a relative XDG one (its specification says so).
 * @throws `home.unwritable` when no variable names a place
 */
export function homeRoot(readVariable: ReadVariable = (name) => Deno.env.get(name)): string {
  const own = readVariable("BOLL_HOME");
  if (own) return resolve(own);
  const data = readVariable("XDG_DATA_HOME");
  if (data && isAbsolute(data)) return join(data, "boll");
  const user = readVariable("HOME");
  if (user && isAbsolute(user)) return join(user, ".boll");
  throw new CapsuleError(
    "home.unwritable",
    `Open home: none of BOLL_HOME, XDG_DATA_HOME and HOME names an absolute path; ${HINT}`,
  );
}

/**
 * Opens boll's home and makes what is missing of it, 0700. A home that others may write, that is a link, or that
 * belongs to someone else is refused: who can write it decides what boll trusts.
 * @throws `home.unwritable` with the reason and a hint
 */
export function openHome(readVariable?: ReadVariable): Home {
  const root = homeRoot(readVariable);
  const home = { root, cache: join(root, "cache"), sessions: join(root, "sessions"), trust: join(root, "trust.json") };
  makeFolder(root, { parents: true });
  makeFolder(home.cache, { parents: false });
  makeFolder(home.sessions, { parents: false });
  return home;
}

function makeFolder(path: string, options: { parents: boolean }): void {
  try {
    let fault = folderFault(path);
    if (fault === "missing") {
      makeMissing(path, options.parents);
      fault = folderFault(path);
    }
    if (fault === "readable by others") {
      Deno.chmodSync(path, 0o700);
      fault = folderFault(path);
    }
    if (fault === undefined) return;
    const fix = fault === "writable by others" ? `run \`chmod 700 ${path}\` once you know what is in it, or ` : "";
    throw new CapsuleError("home.unwritable", `Open home: ${path} is ${fault}; ${fix}${HINT}`);
  } catch (error) {
    if (error instanceof CapsuleError) throw error;
    throw unwritable(path, error);
  }
}

/** Another first run may have made it meanwhile; what it is then is looked at anew. */
function makeMissing(path: string, parents: boolean): void {
  try {
    Deno.mkdirSync(path, { recursive: parents, mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
}

/** The error for a place below the home that could not be written. */
export function unwritable(path: string, cause: unknown): CapsuleError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const isFull = /os error (28|122)\b/.test(reason);
  const hint = isFull ? `free space there, or ${HINT}` : hostHint(cause) ?? HINT;
  return new CapsuleError("home.unwritable", `Write home: ${path} cannot be written (${reason}); ${hint}`, { cause });
}
