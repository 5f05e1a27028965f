import { CapsuleError, type Containment } from "../base/mod.ts";
import type { Grants } from "./grants.ts";
import { hasScheme } from "./net_walls.ts";

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

/** What {@link achievedContainment} depends on beside the host. */
export interface ContainmentOptions {
  /** `Deno.build.standalone`. */
  readonly compiled: boolean;
  /** The run's network entries; empty also for what runs no guest. */
  readonly net: Grants["net"];
}

/** The Landlock ABI from which TCP ports are bound. */
export const NET_LANDLOCK_ABI = 4;

/** The Landlock ABI from which truncation is bound, so that a read-only mount is read-only. */
const SCOPED_LANDLOCK_ABI = 3;

/**
 * The containment class a run reaches: `scoped` is Landlock ABI 3 (4 with any network) and seccomp in the compiled
 * executable, and no datagrams. Under `deno run` no hull is raised, since threads made while loading modules would stay
 * outside it.
 */
export function achievedContainment(
  probe: HullCapabilities,
  { compiled, net }: ContainmentOptions,
): ContainmentResult {
  const wanted = net.length === 0 ? SCOPED_LANDLOCK_ABI : NET_LANDLOCK_ABI;
  const reasons: string[] = [];
  if (!compiled) reasons.push("Under deno run no kernel wall is raised; use the compiled executable");
  if (probe.os !== "linux") reasons.push(`The kernel wall needs Linux, this is ${probe.os}`);
  else if (probe.landlockAbi < wanted) {
    const found = probe.landlockAbi === 0 ? "none" : `ABI ${probe.landlockAbi}`;
    reasons.push(
      `Landlock: found ${found}, wanted ABI ${wanted} or later${net.length === 0 ? "" : " to bind the network"}`,
    );
  }
  if (probe.os === "linux" && !probe.seccomp) reasons.push("seccomp: this host cannot raise a filter on every thread");
  if (hasScheme({ net }, "udp")) reasons.push("A udp:// entry is granted: no wall stands below the host's own check");
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
