import type { Datetime } from "../clocks.ts";
import type { FileError } from "./file_error.ts";

const MAX_SECONDS = 8_640_000_000_000n; // the last second of a Date

/** `new-timestamp` of `wasi:filesystem/types`. */
export type NewTimestamp =
  | { readonly tag: "no-change" }
  | { readonly tag: "now" }
  | { readonly tag: "timestamp"; readonly val: Datetime };

/**
 * Sets the times of an open file or folder, at millisecond resolution. Through the handle, because a path would follow
 * a link and is denied to a confined process.
 * @throws FileError `invalid` for a second of a billion nanoseconds or more, `overflow` past the last date.
 */
export function setTimes(file: Deno.FsFile, access: NewTimestamp, modification: NewTimestamp): void {
  const accessMs = wantedMs(access);
  const modificationMs = wantedMs(modification);
  if (accessMs === undefined && modificationMs === undefined) return;
  const info = accessMs === undefined || modificationMs === undefined ? file.statSync() : undefined;
  const unchanged = (date: Date | null | undefined) => (date?.getTime() ?? Date.now());
  file.utimeSync(
    new Date(accessMs ?? unchanged(info?.atime)),
    new Date(modificationMs ?? unchanged(info?.mtime)),
  );
}

function wantedMs(timestamp: NewTimestamp): number | undefined {
  switch (timestamp.tag) {
    case "no-change":
      return undefined;
    case "now":
      return Date.now();
    case "timestamp": {
      const { seconds, nanoseconds } = timestamp.val;
      if (nanoseconds >= 1_000_000_000) throw "invalid" satisfies FileError;
      if (seconds > MAX_SECONDS) throw "overflow" satisfies FileError;
      const ms = Number(seconds) * 1000 + Math.floor(nanoseconds / 1e6);
      if (ms > Number(MAX_SECONDS) * 1000) throw "overflow" satisfies FileError;
      return ms;
    }
    default:
      throw new TypeError("Set times: found another type than new-timestamp");
  }
}
