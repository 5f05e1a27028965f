import { asHostFailure } from "../../base/mod.ts";
import type { CachedComponent } from "../../component/mod.ts";
import { achievedContainment, checkFloor } from "../../grants/mod.ts";
import { probeHull } from "../../hull/mod.ts";
import {
  type AgentCapsule,
  type AgentDigests,
  type Capsule,
  capsulePath,
  type CommandCapsule,
  type CommandDigests,
} from "../../manifest/mod.ts";
import type { Lock } from "../../package/mod.ts";
import {
  createSession,
  type SessionEnd,
  type SessionPlaces,
  type SessionStart,
  TraceWriter,
  writePlan,
} from "../../records/mod.ts";
import {
  failureOutcome,
  interrupted,
  isCompiled,
  isStartInterrupted,
  type LaunchPlan,
  makePlan,
  type Outcome,
} from "../../session/mod.ts";
import type { Arguments } from "../options/arguments.ts";
import { BUILD_INFO } from "../about/build_info.ts";
import { reportEnding, warnOfContainment } from "./report_ending.ts";
import type { Resolved } from "./resolve_run.ts";
import type { Context } from "../verb.ts";

/** A capsule that its operator agreed to run, with what goes to its guest as arguments. */
export interface Agreed<Kind extends Capsule = CommandCapsule> {
  readonly resolved: Resolved<Kind>;
  readonly digests: Kind extends AgentCapsule ? AgentDigests : CommandDigests;
  readonly args: Arguments;
  readonly context: Context;
  readonly guestArgs: readonly string[];
  /** What its operator agreed that it may start; absent when it may start nothing. */
  readonly lock?: Lock | undefined;
}

/** A session on record: its places are made, its start is written. */
export interface SessionRecord<Kind extends Capsule = CommandCapsule> extends Agreed<Kind> {
  readonly places: SessionPlaces;
  readonly trace: TraceWriter;
  readonly identity: Omit<LaunchPlan["capsule"], "digest">;
  readonly containment: LaunchPlan["containment"];
  /** The parts of wall 4 that this host was found to have. */
  readonly kernel: { readonly landlock: boolean; readonly seccomp: boolean };
}

/** How the recorded work ended, and what it used. */
export interface RecordedEnding {
  readonly outcome: Outcome;
  readonly usage?: SessionEnd["usage"];
}

/**
 * Does `work` with a session on record: whatever way out it takes, the ending is written and said. Gives the exit
 * status. `interrupt` aborts when the user interrupts.
 */
export async function recordSession<Kind extends Capsule = CommandCapsule>(
  agreed: Agreed<Kind>,
  interrupt: AbortSignal,
  work: (record: SessionRecord<Kind>) => Promise<RecordedEnding>,
): Promise<number> {
  const { resolved, args, context } = agreed;
  const { grants, work: workFolder } = resolved.grants;
  const started = performance.now();
  using places = createSession(resolved.home, workFolder === undefined ? {} : { work: workFolder });
  using trace = new TraceWriter(places, {
    onProblem: (error) => context.stderr.write(`boll: warning: ${error.message}\n`),
  });
  const probe = probeHull();
  const achieved = achievedContainment(probe, { compiled: isCompiled, net: grants.net });
  const record: SessionRecord<Kind> = {
    ...agreed,
    places,
    trace,
    identity: identityOf(resolved),
    containment: { ...(grants.containment === undefined ? {} : { declared: grants.containment }), ...achieved },
    kernel: { landlock: probe.landlockAbi > 0, seccomp: probe.seccomp },
  };
  trace.append("session_start", startOf(record));
  const end = ({ outcome, usage }: RecordedEnding, error?: unknown) => {
    const durationMs = Math.round(performance.now() - started);
    const kept = usage === undefined || captureOf(resolved) === "none" ? {} : { usage };
    trace.append("session_end", { ...outcome, duration_ms: durationMs, ...kept });
    const failure = error === undefined ? {} : { error };
    return reportEnding({ args, context, places, containment: achieved.achieved, outcome, durationMs, ...failure });
  };
  try {
    checkFloor(grants, achieved);
    if (!args.has("quiet")) warnOfContainment(achieved, context);
    return end(await work(record));
  } catch (error) {
    if (interrupt.aborted || isStartInterrupted(error)) return end({ outcome: interrupted() });
    const known = asHostFailure(error);
    return end({ outcome: failureOutcome(known) }, known);
  }
}

/** Decides, for good: writes the plan before anything starts. */
export function writePlanOf(record: SessionRecord, component: CachedComponent): LaunchPlan {
  const { places, identity, digests, resolved, guestArgs, containment } = record;
  const plan = makePlan({
    session_id: places.id,
    boll_version: BUILD_INFO.version,
    capsule: { ...identity, digest: digests.capsule },
    component,
    grants: resolved.grants.grants,
    args: guestArgs,
    work: places.work,
    containment,
  });
  writePlan(places, plan);
  return plan;
}

function startOf(record: SessionRecord<Capsule>): SessionStart {
  const { resolved, digests, identity, containment, guestArgs, places } = record;
  const { grants } = resolved.grants;
  return {
    capsule: identity,
    digest: digests.capsule,
    containment,
    grants,
    ...capturedArguments(resolved, guestArgs),
    ...(grants.fs.work === undefined ? {} : { work: places.work }),
    boll_version: BUILD_INFO.version,
  };
}

/** `trace.capture`: what a guest was told is content, how much of it is not. */
function capturedArguments(resolved: Resolved, args: readonly string[]): Pick<SessionStart, "args" | "args_count"> {
  const capture = captureOf(resolved);
  if (capture === "none") return {};
  return capture === "content" ? { args, args_count: args.length } : { args_count: args.length };
}

function captureOf({ capsule }: Resolved): "none" | "meta" | "content" {
  return capsule.manifest?.trace.capture ?? "meta";
}

function identityOf({ capsule }: Resolved): SessionRecord["identity"] {
  return {
    name: capsule.name,
    kind: capsule.kind === "bare" ? "component" : "folder",
    path: capsulePath(capsule),
    ...(capsule.version === undefined ? {} : { version: capsule.version }),
  };
}
