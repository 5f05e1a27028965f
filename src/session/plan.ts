import type { Containment } from "../base/mod.ts";
import type { CachedComponent } from "../component/mod.ts";
import type { Grants } from "../grants/mod.ts";
import type { SpawnPayload } from "../protocol/control/mod.ts";

/**
 * What was decided, before anything starts: resolved, JSON-safe, frozen, free of secrets and of granted values. It is
 * a record, never a child's input: the first frame is.
 */
export interface LaunchPlan {
  readonly session_id: string;
  readonly boll_version: string;
  readonly capsule: {
    readonly name: string;
    readonly kind: "folder" | "component";
    readonly path: string;
    readonly digest: string;
    readonly version?: string;
  };
  /** Absent for an agent. */
  readonly component?: PlannedComponent;
  /** An agent's, by name. */
  readonly tools?: Readonly<Record<string, PlannedComponent>>;
  readonly grants: Grants;
  readonly args: readonly string[];
  readonly work?: string;
  readonly containment: PlannedContainment;
  /** Below a supervisor: what the session is, what it may use, and who started it. */
  readonly session?: Pick<SpawnPayload, "role" | "depth" | "limits"> & {
    readonly spawned_by?: string;
    readonly delegation_id?: string;
  };
}

/** A component as it lies in the cache. */
export interface PlannedComponent {
  readonly digest: string;
  readonly cache_key: string;
  readonly imports: readonly string[];
}

/** The containment class that was asked for and the one this host gives, with the reasons when it is not the strongest. */
export interface PlannedContainment {
  readonly declared?: Containment;
  readonly achieved: Containment;
  readonly reasons: readonly string[];
}

/** What a cell is loaded by. */
export type CellPlan = Pick<LaunchPlan, "capsule" | "grants" | "args" | "containment">;

/** Parts of a {@link LaunchPlan} that are not copied as they are. */
export interface PlanInput extends Omit<LaunchPlan, "component" | "tools"> {
  readonly component?: CachedComponent;
  readonly tools?: Readonly<Record<string, CachedComponent>>;
}

/** Freezes the decision. */
export function makePlan({ component, tools, ...input }: PlanInput): LaunchPlan {
  return deepFreeze({
    ...input,
    ...(component === undefined ? {} : { component: planned(component) }),
    ...(tools === undefined
      ? {}
      : { tools: Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, planned(tool)])) }),
  });
}

function planned({ digest, key, description }: CachedComponent): PlannedComponent {
  return { digest, cache_key: key, imports: description.imports };
}

function deepFreeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === "object" && part !== null) deepFreeze(part);
  return Object.freeze(value);
}
