import type { Grants } from "./grants.ts";

/** What {@link narrow} gives: the intersection, and what of `declared` is not in it, named for people. */
export interface Narrowed {
  readonly grants: Grants;
  readonly dropped: readonly string[];
}
/** STUB */
export function narrow(declared: Grants, ceiling: Grants): Narrowed {
  throw new Error(`${declared}${ceiling}`);
}
