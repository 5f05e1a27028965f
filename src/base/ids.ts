import { generate } from "@std/uuid";

/** Prefixes of ids: session, task, context, delegation, message, request. */
export type IdPrefix = "ses" | "tsk" | "ctx" | "dlg" | "msg" | "req";

let lastMs = 0;

/**
 * A fresh id: prefix, `_`, 32 lower-case hex of a UUID v7, so that lexical order is creation order. Within one process
 * that holds for every two ids, also when the clock is set back: each takes a millisecond of its own. `now` gives
 * milliseconds since the epoch.
 */
export function newId<P extends IdPrefix>(prefix: P, now: () => number = Date.now): `${P}_${string}` {
  lastMs = Math.max(Math.floor(now()), lastMs + 1);
  return `${prefix}_${generate(lastMs).replaceAll("-", "")}`;
}

/** Whether `text` has the shape that {@link newId} gives. */
export function isId(text: string, prefix: IdPrefix): boolean {
  return text.length === prefix.length + 33 && text.startsWith(`${prefix}_`) && /^[0-9a-f]{32}$/.test(text.slice(-32));
}
