import { CapsuleError } from "../../base/mod.ts";
import type { CellWalls } from "../../protocol/mod.ts";
import type { WallsRaised } from "../../records/mod.ts";
import type { LaunchPlan } from "../plan.ts";

/** What a cell raised, as the trace says it. */
export function wallsEvent({ worker, landlock, seccomp, abi }: CellWalls): WallsRaised {
  return { permissions: worker ? "lists" : "revoked", landlock, landlock_abi: abi, seccomp };
}

/** What was promised (and recorded) must stand, or the guest does not start. @throws `hull.failed` */
export function checkWalls({ landlock, seccomp }: CellWalls, plan: Pick<LaunchPlan, "containment">): void {
  if (plan.containment.achieved === "scoped" && !(landlock && seccomp)) {
    throw new CapsuleError("hull.failed", "Confine a cell: the kernel wall that this host has did not rise in it");
  }
}
