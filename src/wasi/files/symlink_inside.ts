import type { FileError } from "./file_error.ts";
import { fileErrorOf } from "./file_error.ts";
import type { Preopen, SymlinkPlace } from "../host.ts";
import { type Folder, joinHost, lstat } from "./place.ts";
import { namesOf, staysInside } from "./walk.ts";

/**
 * The main thread's half of making a link (a scoped worker may not): trusts nothing of the asker, walks again, and
 * makes it only where every name above is a real folder, the name is free and the target stays inside.
 * @throws FileError as a string
 */
export function symlinkInside(preopens: readonly Preopen[], place: SymlinkPlace): void {
  const preopen = Number.isInteger(place.preopen) ? preopens[place.preopen] : undefined;
  if (preopen === undefined || preopen.mode !== "rw") throw "read-only" satisfies FileError;
  if (!isText(place.path) || !isText(place.target)) throw "invalid" satisfies FileError;
  const parts = namesOf(place.path);
  if (parts.length === 0 || parts.includes("..")) throw "not-permitted" satisfies FileError;
  try {
    make(preopen, parts, place.target);
  } catch (error) {
    throw fileErrorOf(error);
  }
}

function make(preopen: Preopen, parts: readonly string[], target: string): void {
  const info = Deno.lstatSync(preopen.host);
  const root: Folder = { preopen, index: 0, parts: [], info };
  for (let count = 1; count < parts.length; count++) {
    const above = lstat(joinHost(preopen.host, parts.slice(0, count)));
    if (above?.isDirectory !== true) throw "not-directory" satisfies FileError;
  }
  if (!staysInside(root, parts, target)) throw "not-permitted" satisfies FileError;
  Deno.symlinkSync(target, joinHost(preopen.host, parts));
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && !value.includes("\0");
}
