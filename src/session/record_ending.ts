import { exitCodeOf } from "../base/mod.ts";
import { recordEnd, type SessionEnd, type SessionPlaces } from "../records/mod.ts";
import type { ChildEnding } from "../supervisor/tree/mod.ts";

/**
 * What the supervisor knows of an ending goes into the session's trace when the session itself could not write it: it was
 * killed, fell silent or never came to run.
 */
export function recordEnding(places: SessionPlaces, ending: ChildEnding): void {
  places.lock.freeReserve();
  recordEnd(places, endOf(ending));
}

function endOf({ status, ended_by, detail, tail, duration_ms }: ChildEnding): SessionEnd {
  const lastLine = tail.trimEnd().split("\n").at(-1) ?? "";
  const why = [detail ?? "", lastLine].filter((part) => part !== "").join("; its last line: ");
  return {
    status,
    exit_code: exitCodeOf(status, ended_by),
    ended_by,
    duration_ms,
    ...(why === "" ? {} : { detail: why }),
  };
}
