import type { FileError } from "./file_error.ts";
import { type Folder, hostPath, joinHost, lstat, requireUnmoved } from "./place.ts";
import { walkPlain } from "./walk_plain.ts";

const MAX_LINKS = 40;
const MAX_PATH_BYTES = 4095; // PATH_MAX without its NUL
// Where paths have drives and a second separator, a name may hold neither.
const FOREIGN_SEPARATORS = Deno.build.os === "windows" ? /[\\:]/ : undefined;
const encoder = new TextEncoder();

/**
 * What the last name of a path may be when it is a link: `follow` it; `keep` it (a trailing slash follows it, as
 * POSIX says); `refuse` the trailing slash (removing and renaming).
 */
export type LastLink = "follow" | "keep" | "refuse";

/** Where a path leads: every name before the last is a real folder of the preopen. */
export interface Place {
  readonly folder: Folder;
  /** Relative to the preopen. */
  readonly parts: readonly string[];
  readonly host: string;
  /** What is there now (never followed); absent is nothing. */
  readonly info: Deno.FileInfo | undefined;
  /** The path says it is a folder: it ends with a slash or a dot. */
  readonly saysFolder: boolean;
  /** The path's own last name: empty for the folder itself. */
  readonly lastName: string;
}

/** A path to walk. */
export interface WalkRequest {
  readonly path: string;
  readonly last: LastLink;
  /** Something is to be made there by a call that fails when the name is taken, be it by a link that leads nowhere. */
  readonly isNew?: boolean;
  /** Told of a path that would have left the folder; the thrown value is `not-permitted`. */
  onEscape?(path: string): void;
}

/**
 * Walks a path from `folder`: neither `..` nor a link leads out of the folder at any step. Only the last name may be
 * missing.
 * @throws FileError
 */
export function walk(folder: Folder, request: WalkRequest): Place {
  checkPath(request);
  requireUnmoved(folder);
  return walkPlain(folder, request) ?? new Walker(folder, request).run();
}

/** {@link walk}, always name by name with lstat. @throws FileError */
export function walkByNames(folder: Folder, request: WalkRequest): Place {
  checkPath(request);
  requireUnmoved(folder);
  return new Walker(folder, request).run();
}

/** Names of a path, without empty ones and dots. */
export function namesOf(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

/** Does the path say that it is a folder? */
export function saysFolder(path: string): boolean {
  return /(^|\/)\.{0,2}$/.test(path);
}

function checkPath({ path, onEscape }: WalkRequest): void {
  if (typeof path !== "string") throw new TypeError("Take a path: found another type than string");
  if (path === "") throw "no-entry" satisfies FileError;
  if (path.includes("\0") || FOREIGN_SEPARATORS?.test(path)) throw "invalid" satisfies FileError;
  if (path.length * 3 > MAX_PATH_BYTES && encoder.encode(path).length > MAX_PATH_BYTES) {
    throw "name-too-long" satisfies FileError;
  }
  if (path.startsWith("/")) refuseEscape(path, onEscape);
}

function refuseEscape(path: string, onEscape: WalkRequest["onEscape"]): never {
  onEscape?.(path);
  throw "not-permitted" satisfies FileError;
}

class Walker {
  readonly #folder: Folder;
  readonly #path: string;
  readonly #last: LastLink;
  readonly #onEscape: WalkRequest["onEscape"];
  /** Names still to walk, the next one at the end. */
  readonly #pending: string[];
  /** Names walked below the folder, and the host path of each. */
  readonly #parts: string[] = [];
  readonly #hosts: string[];
  readonly #prefix: string;
  #saysFolder: boolean;
  #links = 0;

  constructor(folder: Folder, { path, last, onEscape }: WalkRequest) {
    const root = hostPath(folder);
    this.#folder = folder;
    this.#path = path;
    this.#last = last;
    this.#onEscape = onEscape;
    this.#pending = namesOf(path).reverse();
    this.#hosts = [root];
    this.#prefix = root === "/" ? "" : root;
    this.#saysFolder = saysFolder(path);
  }

  run(): Place {
    const lastName = this.#pending[0] ?? "";
    let info: Deno.FileInfo | undefined = undefined;
    for (let name = this.#pending.pop(); name !== undefined; name = this.#pending.pop()) {
      info = name === ".." ? this.#leave() : this.#enter(name);
    }
    const host = this.#hosts.at(-1)!;
    info ??= this.#parts.length === 0 || lastName === ".." || this.#links > 0 ? lstat(host) : undefined;
    if (this.#saysFolder && info !== undefined && !info.isDirectory) throw "not-directory" satisfies FileError;
    const parts = [...this.#folder.parts, ...this.#parts];
    return { folder: this.#folder, parts, host, info, saysFolder: this.#saysFolder, lastName };
  }

  #leave(): undefined {
    if (this.#parts.pop() === undefined) refuseEscape(this.#path, this.#onEscape);
    this.#hosts.pop();
  }

  /** One name further: what is there, or nothing where the last name is missing or a link was replaced by its names. */
  #enter(name: string): Deno.FileInfo | undefined {
    const above = this.#parts.length === 0 ? this.#prefix : this.#hosts.at(-1)!;
    const host = `${above}/${name}`;
    const info = lstat(host);
    const isLast = this.#pending.length === 0;
    if (info?.isSymlink === true && this.#mustFollow(isLast)) return this.#follow(host);
    if (!isLast && info === undefined) throw "no-entry" satisfies FileError;
    if (!isLast && !info!.isDirectory) throw "not-directory" satisfies FileError;
    this.#parts.push(name);
    this.#hosts.push(host);
    return info;
  }

  #mustFollow(isLast: boolean): boolean {
    if (!isLast || this.#last === "follow") return true;
    if (!this.#saysFolder) return false;
    if (this.#last === "refuse") throw "not-directory" satisfies FileError;
    return true;
  }

  #follow(host: string): undefined {
    if (++this.#links > MAX_LINKS) throw "loop" satisfies FileError;
    const target = Deno.readLinkSync(host);
    if (target.startsWith("/") || FOREIGN_SEPARATORS?.test(target)) refuseEscape(this.#path, this.#onEscape);
    if (this.#pending.length === 0 && saysFolder(target)) this.#saysFolder = true;
    this.#pending.push(...namesOf(target).reverse());
  }
}

/**
 * Does a link at `parts` of the preopen that says `target` stay inside, whatever the guest makes later? What exists is
 * walked, links and all; what does not exist yet is taken by its names. It may climb only before its first name: whatever
 * that name is by now, the guest could put a link in its place, and climb from where that leads. A circle leads nowhere.
 */
export function staysInside(root: Folder, parts: readonly string[], target: string): boolean {
  if (target.startsWith("/") || FOREIGN_SEPARATORS?.test(target)) return false;
  const at = parts.slice(0, -1);
  const seen = new Set<string>();
  const pending = namesOf(target).reverse();
  if (pending.slice(0, pending.findLastIndex((name) => name !== "..") + 1).includes("..")) return false;
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name === "..") {
      if (at.pop() === undefined) return false;
      continue;
    }
    at.push(name);
    const host = joinHost(root.preopen.host, at);
    if (lstatOrNothing(host)?.isSymlink !== true) continue;
    const rest = `${host}\0${pending.join("/")}`;
    if (seen.has(rest)) return true;
    seen.add(rest);
    const further = Deno.readLinkSync(host);
    if (seen.size > MAX_LINKS || further.startsWith("/")) return false;
    at.pop();
    pending.push(...namesOf(further).reverse());
  }
  return true;
}

// A file where the target wants a folder leads nowhere, so it cannot lead out.
function lstatOrNothing(host: string): Deno.FileInfo | undefined {
  try {
    return lstat(host);
  } catch (error) {
    if (error instanceof Deno.errors.NotADirectory) return undefined;
    throw error;
  }
}
