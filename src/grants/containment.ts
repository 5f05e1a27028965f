import { CapsuleError, type Containment } from "../base/mod.ts";
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
  /** Empty when `scoped`. */
  readonly reasons: readonly string[];
}

/** The Landlock ABI from which truncation is bound, so that a read-only mount is read-only. */
const SCOPED_LANDLOCK_ABI = 3;

/**
 * The containment class a run reaches: `scoped` is Landlock ABI 3 and seccomp in the compiled executable. Under
 * `deno run` no hull is raised, since threads made while loading modules would stay outside it.
 */
export function achievedContainment(probe: HullCapabilities, compiled: boolean): ContainmentResult {
  const reasons: string[] = [];
  if (!compiled) reasons.push("Under deno run no kernel wall is raised; use the compiled executable");
  if (probe.os !== "linux") reasons.push(`The kernel wall needs Linux, this is ${probe.os}`);
  else if (probe.landlockAbi < SCOPED_LANDLOCK_ABI) {
    const found = probe.landlockAbi === 0 ? "none" : `ABI ${probe.landlockAbi}`;
    reasons.push(`Landlock: found ${found}, wanted ABI ${SCOPED_LANDLOCK_ABI} or later`);
  }
  if (probe.os === "linux" && !probe.seccomp) reasons.push("seccomp: this host cannot raise a filter on every thread");
  if (reasons.length === 0) return { achieved: "scoped", reasons: [] };
  return { achieved: "advisory", reasons: [...new Set([...reasons, ...probe.reasons])] };
}

/**
 * Refuses a run whose floor this host cannot meet, before anything starts.
 * @throws {CapsuleError} `grant.floor_unmet`
 */
export function checkFloor(grants: Grants, result: ContainmentResult): void {
  if (grants.containment !== "scoped" || result.achieved === "scoped") return;
  throw new CapsuleError(
    "grant.floor_unmet",
    `Contain the run: wanted scoped, this host reaches ${result.achieved}: ${result.reasons.join("; ")}`,
    { problems: result.reasons },
  );
}
