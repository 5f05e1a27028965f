import type { ContainmentResult } from "../grants/mod.ts";
import type { CapsuleDigests } from "../manifest/mod.ts";
import { type SessionPlaces, type TraceWriter, writePlan } from "../records/mod.ts";
import { type ForegroundResult, type LaunchPlan, makePlan, openHull, runForeground } from "../session/mod.ts";
import type { Arguments } from "./arguments.ts";
import { BUILD_INFO } from "./build_info.ts";
import { Denials } from "./denials.ts";
import { holdComponent } from "./held_component.ts";
import { prepareComponent } from "./prepare_component.ts";
import type { Resolved } from "./resolve_run.ts";
import type { Context } from "./verb.ts";

/** A recorded run about to start. */
export interface Launch {
  readonly resolved: Resolved;
  readonly identity: Omit<LaunchPlan["capsule"], "digest">;
  readonly digests: CapsuleDigests;
  readonly args: Arguments;
  readonly context: Context;
  readonly places: SessionPlaces;
  readonly trace: TraceWriter;
  readonly containment: ContainmentResult;
  /** Aborts when the user interrupts. */
  readonly interrupt: AbortSignal;
  /** The parts of wall 4 that this host was found to have. */
  readonly kernel: { readonly landlock: boolean; readonly seccomp: boolean };
}

/**
 * Builds what is missing, writes the plan, runs, and prints what would allow what was denied.
 *
 * @throws `component.*`, `grant.import_not_granted`, `hull.*`, `cell.start_failed`
 */
export async function launch(input: Launch): Promise<ForegroundResult> {
  const { resolved, places, trace, context, args, containment } = input;
  const hull = openHull();
  const hasKernelWall = input.kernel.landlock && input.kernel.seccomp;
  using held = await holdComponent(() =>
    prepareComponent(resolved, input.digests.component, hasKernelWall, context, {
      interrupt: input.interrupt,
      onMismatch: (key, detail) => trace.append("cache_mismatch", { key, detail }),
    })
  );
  const { component } = held;
  const declared = resolved.grants.grants.containment;
  const plan = makePlan({
    session_id: places.id,
    boll_version: BUILD_INFO.version,
    capsule: { ...input.identity, digest: input.digests.capsule },
    component,
    grants: resolved.grants.grants,
    args: guestArguments(resolved, args),
    work: places.work,
    containment: { ...(declared === undefined ? {} : { declared }), ...containment },
  });
  writePlan(places, plan);
  const denials = new Denials(resolved.capsule, trace);
  const result = await runForeground({
    plan,
    component,
    envValues: resolved.grants.envValues,
    places,
    trace,
    ...(hull === undefined ? {} : { hull }),
    kernel: input.kernel,
    upstream: resolved.upstream,
    interrupt: input.interrupt,
    onDenied: (denied) => denials.add(denied),
  });
  if (!args.has("quiet") && !args.has("json")) denials.print(context);
  return result;
}

/** The manifest's own arguments come first, then what the operator typed. */
export function guestArguments({ capsule }: Resolved, args: Arguments): readonly string[] {
  return [...(capsule.manifest?.args ?? []), ...args.rest];
}
