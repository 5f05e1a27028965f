import { succeed } from "./landlock.ts";
import type { Libc } from "./libc.ts";

const PR_SET_CHILD_SUBREAPER = 36;

/** Processes below this one that lose their parent come to this one, instead of to the system's first. @throws `hull.failed` */
export function becomeSubreaper(libc: Libc): void {
  succeed(libc.call("prctl", PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "Become the reaper of what children leave behind");
}
