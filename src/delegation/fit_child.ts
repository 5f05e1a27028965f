import { CapsuleError, printableLine } from "../base/mod.ts";
import { fitGrants, type Grants, type Misfit } from "../grants/mod.ts";
import type { DeclaredGrants } from "../manifest/mod.ts";
import type { SessionLimits } from "../protocol/control/mod.ts";

/** All that a session may do and give on. */
export interface Authority {
  /** Every mount bound. */
  readonly grants: Grants;
  /** Patterns of its tools; absent does not narrow. */
  readonly tools?: readonly string[];
  readonly limits: SessionLimits;
  /** 0 is the root. */
  readonly depth: number;
}

/** What a capsule asks for when it is delegated to: its manifest, and what the delegation says. */
export interface ChildRequest {
  /** The capsule's name, as `grants.spawn` lists it. */
  readonly capsule: string;
  readonly declared: DeclaredGrants;
  readonly tools?: readonly string[];
  readonly limits?: Partial<Omit<SessionLimits, "deadline_ms">>;
  /** The child's guest path → the parent's, where they differ. */
  readonly mounts?: Readonly<Record<string, string>>;
}

/** The session that delegates, and what it has left to live. */
export interface Parent extends Authority {
  readonly remainingMs: number;
}

const CEILED = ["max_steps", "max_tokens", "max_depth", "memory_bytes", "cpu_seconds"] as const;

/**
 * A child's authority, which fits inside its parent's on every axis. What does not is refused, all of it at once and each
 * by axis and entry. What nobody wrote is the parent's, or the default where that is less; the deadline is never longer
 * than what its parent has left.
 * @throws {CapsuleError} `grant.exceeds_ceiling`, with one problem for each misfit
 */
export function fitChild(request: ChildRequest, parent: Parent): Authority {
  const { declared, mounts, tools = parent.tools } = request;
  const fitted = fitGrants({ declared, parent: parent.grants, ...(mounts === undefined ? {} : { mounts }) });
  const depth = parent.depth + 1;
  const misfits = [
    ...misfitsOfCapsule(request, parent),
    ...("misfits" in fitted ? fitted.misfits : []),
    ...misfitsOfTools(tools ?? ["*"], parent),
    ...misfitsOfLimits(request.limits ?? {}, parent),
  ];
  if (misfits.length > 0 || "misfits" in fitted) throw refuse(request.capsule, misfits);
  const deadlineMs = Math.min(fitted.grants.limits.deadline_ms, parent.remainingMs);
  return {
    grants: { ...fitted.grants, limits: { ...fitted.grants.limits, deadline_ms: deadlineMs } },
    ...(tools === undefined ? {} : { tools }),
    limits: { ...parent.limits, ...request.limits, deadline_ms: deadlineMs },
    depth,
  };
}

/** Whether every tool that the pattern names is one that the patterns allow. */
export function isToolInside(pattern: string, patterns: readonly string[]): boolean {
  const start = pattern.endsWith("*") ? pattern.slice(0, -1) : pattern;
  return patterns.some((above) => above === pattern || (above.endsWith("*") && start.startsWith(above.slice(0, -1))));
}

function misfitsOfCapsule({ capsule }: ChildRequest, parent: Parent): Misfit[] {
  const depth = parent.depth + 1;
  const { grants: { spawn }, limits: { max_depth } } = parent;
  return [
    ...(spawn.includes(capsule) ? [] : [{
      axis: "spawn",
      entry: capsule,
      text: `starting ${capsule}: the parent may delegate to ${spawn.join(", ") || "no capsule"}`,
    }]),
    ...(depth <= max_depth ? [] : [{
      axis: "depth",
      entry: String(depth),
      text: `a session at depth ${depth}: the parent may go down to ${max_depth}`,
    }]),
  ];
}

function misfitsOfTools(tools: readonly string[], parent: Parent): Misfit[] {
  const allowed = parent.tools ?? ["*"];
  return tools.filter((pattern) => !isToolInside(pattern, allowed)).map((pattern) => ({
    axis: "tools",
    entry: pattern,
    text: `the tool ${pattern}`,
  }));
}

function misfitsOfLimits(asked: NonNullable<ChildRequest["limits"]>, { limits, remainingMs }: Parent): Misfit[] {
  const misfits: Misfit[] = CEILED.filter((name) => (asked[name] ?? 0) > (limits[name] ?? Infinity)).map((name) => ({
    axis: "limits",
    entry: name,
    text: `${name} above ${limits[name]} (asked: ${asked[name]})`,
  }));
  // The lower, the more of the machine it gets.
  if ((asked.nice ?? limits.nice ?? 0) < (limits.nice ?? 0)) {
    misfits.push({ axis: "limits", entry: "nice", text: `nice below ${limits.nice ?? 0} (asked: ${asked.nice})` });
  }
  if (!(remainingMs > 0)) {
    misfits.push({ axis: "limits", entry: "deadline_ms", text: "any time at all: the parent's own deadline is over" });
  }
  return misfits;
}

function refuse(capsule: string, misfits: readonly Misfit[]): CapsuleError {
  const problems = misfits.map(({ axis, entry, text }) =>
    printableLine(axis === entry ? `${axis}: ${text}` : `${axis} ${entry}: ${text}`)
  );
  return new CapsuleError(
    "grant.exceeds_ceiling",
    `Delegate to ${printableLine(capsule, 100)}: found more than its parent has: ${problems.join("; ")}`,
    { problems },
  );
}
