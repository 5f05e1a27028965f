import type { Containment } from "../base/mod.ts";
import type { Grants } from "./grants.ts";

/** What a live probe of the host found; the hull room's probe has this shape. */
export interface HullCapabilities {
  readonly os: string;
  readonly arch: string;
  readonly landlockAbi: number;
  readonly seccomp: boolean;
  readonly reasons: readonly string[];
}

/** How strongly a run would be contained here, and what stands in the way of more. */
export interface ContainmentResult {
  readonly achieved: Containment;
  readonly reasons: readonly string[];
}
/** STUB: compiled is Deno.build.standalone */
export function achievedContainment(probe: HullCapabilities, compiled: boolean): ContainmentResult {
  throw new Error(`${probe}${compiled}`);
}
/** STUB @throws {CapsuleError} `grant.floor_unmet` */
export function checkFloor(grants: Grants, result: ContainmentResult): void {
  throw new Error(`${grants}${result}`);
}
