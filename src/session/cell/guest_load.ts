import type { CachedComponent } from "../../component/mod.ts";
import type { CellNetwork, RunLoad } from "../../protocol/mod.ts";
import type { CellPlan } from "../plan.ts";

/** What a guest's cell is loaded from: the plan, and beside it what no record holds. */
export interface GuestLoadInput {
  readonly plan: CellPlan;
  readonly component: CachedComponent;
  readonly envValues: Readonly<Record<string, string>>;
  readonly places: { readonly work: string };
  readonly kernel: RunLoad["kernel"];
}

/** The part of a first frame that a run cell and a serving cell have in common: the guest's whole authority. */
export function makeGuestLoad(
  { plan, component, envValues, places, kernel }: GuestLoadInput,
  tmp: string,
  network: { readonly cell: CellNetwork } | undefined,
): Omit<RunLoad, "kind" | "terminal"> {
  return {
    type: "load",
    grants: plan.grants,
    args: [plan.capsule.name, ...plan.args],
    env: Object.entries(envValues),
    folders: { cache: component.dir, tmp, ...(plan.grants.fs.work === undefined ? {} : { work: places.work }) },
    component: {
      key: component.key,
      glue: component.glue,
      code: component.code,
      modules: component.modules,
      memories: component.description.memories,
    },
    kernel,
    ...(network === undefined ? {} : { network: network.cell }),
  };
}
