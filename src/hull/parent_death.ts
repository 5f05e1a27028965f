import { CapsuleError } from "../base/mod.ts";
import { succeed } from "./landlock.ts";
import type { Libc } from "./libc.ts";

const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9;

/**
 * The kernel kills this process when the thread that spawned it ends. A parent that died before the call would never be
 * noticed, so it is compared afterwards. @throws `hull.failed`
 */
export function dieWithParent(libc: Libc, expectedParentPid: number): void {
  succeed(libc.call("prctl", PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "Tie this process to its parent");
  const parent = libc.call("getppid");
  if (parent !== expectedParentPid) {
    const message = `Tie this process to its parent: expected pid ${expectedParentPid}, the parent is ${parent}`;
    throw new CapsuleError("hull.failed", message);
  }
}
