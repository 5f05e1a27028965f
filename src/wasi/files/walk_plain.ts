import { existsSync } from "node:fs";
import { type Folder, hostPath, lstat } from "./place.ts";
import type { Place, WalkRequest } from "./walk.ts";

/** An empty name (so a slash at either end too), a dot or two dots. */
const SPECIAL_NAME = /(?:^|\/)\.{0,2}(?:\/|$)/;

/**
 * The walk of a path that needs no care: plain names, real folders, no link to follow. That the folders above the last
 * name are real is seen in one call, their real path. `undefined`: walk name by name, which says why or where else.
 */
export function walkPlain(folder: Folder, { path, last, isNew }: WalkRequest): Place | undefined {
  if (SPECIAL_NAME.test(path)) return undefined;
  const root = hostPath(folder);
  const host = root === "/" ? `/${path}` : `${root}/${path}`;
  const slash = path.lastIndexOf("/");
  const above = slash < 0 ? undefined : host.slice(0, host.length - path.length + slash);
  try {
    if (above !== undefined && !isReal(above, path.indexOf("/") === slash, isNew === true)) return undefined;
    // A failing lstat costs more than ten that do not: what is to be made is made without.
    if (isNew && !existsSync(host)) return new PlainPlace(folder, path, host, undefined);
    const info = lstat(host);
    if (info?.isSymlink === true && last === "follow") return undefined;
    return new PlainPlace(folder, path, host, info);
  } catch {
    return undefined;
  }
}

/**
 * The system's own real path is this text only where no name in it is a link; an only name is looked at directly.
 * What is made below `host` needs a folder there, anything else found below it says so itself.
 */
function isReal(host: string, isOnlyName: boolean, mustBeFolder: boolean): boolean {
  if (!isOnlyName && Deno.realPathSync(host) !== host) return false;
  return (!isOnlyName && !mustBeFolder) || Deno.lstatSync(host).isDirectory;
}

/** A place below `folder` that `path` names as it is. */
class PlainPlace implements Place {
  readonly folder: Folder;
  readonly host: string;
  readonly info: Deno.FileInfo | undefined;
  readonly saysFolder = false;
  readonly #path: string;

  constructor(folder: Folder, path: string, host: string, info: Deno.FileInfo | undefined) {
    this.folder = folder;
    this.host = host;
    this.info = info;
    this.#path = path;
  }

  // Few callers ask for these two.

  get parts(): readonly string[] {
    return [...this.folder.parts, ...this.#path.split("/")];
  }

  get lastName(): string {
    return this.#path.slice(this.#path.lastIndexOf("/") + 1);
  }
}
