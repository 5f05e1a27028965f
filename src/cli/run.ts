import { printableJson, printableLine } from "../base/mod.ts";
import { achievedContainment, checkFloor } from "../grants/mod.ts";
import { probeHull } from "../hull/mod.ts";
import { type Capsule, type CapsuleDigests, digestCapsule } from "../manifest/mod.ts";
import { createSession, type SessionPlaces, TraceWriter } from "../records/mod.ts";
import { interrupted, isCompiled, isStartInterrupted, type Outcome } from "../session/mod.ts";
import type { Arguments } from "./arguments.ts";
import { BUILD_INFO } from "./build_info.ts";
import { obtainConsent } from "./consent.ts";
import { GRANT_OPTIONS, REFUSED_GRANT_FLAGS } from "./grant_flags.ts";
import { guestArguments, type Launch, launch } from "./launch.ts";
import { prepareComponent } from "./prepare_component.ts";
import { failureOutcome, reportEnding, warnOf, warnOfContainment } from "./report_ending.ts";
import { type Resolved, resolveRun } from "./resolve_run.ts";
import type { Context, Verb } from "./verb.ts";

/** `boll run CAPSULE [options] [--] ARGS`: a capsule in the foreground, behind its walls. */
export const verb: Verb = {
  name: "run",
  summary: "Run a capsule behind its walls",
  usage: "run CAPSULE [options] [--] [ARGS]",
  operands: { min: 1, max: 1, rest: true, names: ["CAPSULE"] },
  options: [
    ...GRANT_OPTIONS,
    { name: "accept", summary: "Accept a foreign capsule's grants, and remember it" },
    { name: "dry-run", summary: "Check and build everything, run nothing" },
    { name: "json", summary: "End with one JSON object on stderr" },
    { name: "quiet", summary: "No notes of boll's own, only errors" },
  ],
  refused: REFUSED_GRANT_FLAGS,
  notes: [
    "CAPSULE is a folder, a capsule.jsonc, or a bare .wasm.",
    "",
    "  boll run capsules/hello -- world",
    "  boll run capsules/word-count --mount ./docs:/data:ro",
  ],
  run: runVerb,
};

async function runVerb(args: Arguments, context: Context): Promise<number> {
  const resolved = await resolveRun(args.operands[0]!, args, context);
  const digests = digestCapsule(resolved.capsule);
  if (!args.has("quiet")) warnOf(resolved, context);
  const isDryRun = args.has("dry-run");
  obtainConsent({ resolved, digest: digests.capsule, accept: args.has("accept"), remember: !isDryRun }, context);
  return isDryRun
    ? await dryRun(resolved, digests, args, context)
    : await runRecorded(resolved, digests, args, context);
}

/** Everything that a run would refuse is refused here too; then there is nothing more to say. */
async function dryRun(
  resolved: Resolved,
  digests: CapsuleDigests,
  args: Arguments,
  context: Context,
): Promise<number> {
  const probe = probeHull();
  const { grants } = resolved.grants;
  const containment = achievedContainment(probe, { compiled: isCompiled, net: grants.net });
  checkFloor(grants, containment);
  await prepareComponent(resolved, digests.component, probe.landlockAbi > 0 && probe.seccomp, context);
  if (args.has("json")) {
    const report = { status: "completed", exit_code: 0, dry_run: true, containment: containment.achieved };
    context.stderr.write(printableJson(report) + "\n");
    return 0;
  }
  const name = printableLine(resolved.capsule.name);
  context.stdout.write(`${name} would run: every import is granted, containment ${containment.achieved}\n`);
  return 0;
}

/** From here on there is a session, and every way out writes its ending. */
async function runRecorded(
  resolved: Resolved,
  digests: CapsuleDigests,
  args: Arguments,
  context: Context,
): Promise<number> {
  const { capsule, home, grants } = resolved;
  const started = performance.now();
  const interrupt = context.watchInterrupt?.() ?? new AbortController().signal;
  using places = createSession(home, grants.work === undefined ? {} : { work: grants.work });
  using trace = new TraceWriter(places, {
    onProblem: (error) => context.stderr.write(`boll: warning: ${error.message}\n`),
  });
  const probe = probeHull();
  const kernel = { landlock: probe.landlockAbi > 0, seccomp: probe.seccomp };
  const containment = achievedContainment(probe, { compiled: isCompiled, net: grants.grants.net });
  const identity = identityOf(capsule);
  recordStart(trace, places, { resolved, digests, args, identity, containment });
  const end = (how: { readonly outcome: Outcome; readonly error?: unknown }) => {
    const durationMs = Math.round(performance.now() - started);
    trace.append("session_end", { ...how.outcome, duration_ms: durationMs });
    return reportEnding({ args, context, places, containment: containment.achieved, durationMs, ...how });
  };
  try {
    checkFloor(grants.grants, containment);
    if (!args.has("quiet")) warnOfContainment(containment, context);
    const { outcome } = await launch({
      resolved,
      identity,
      digests,
      args,
      context,
      places,
      trace,
      containment,
      kernel,
      interrupt,
    });
    return end({ outcome });
  } catch (error) {
    if (interrupt.aborted || isStartInterrupted(error)) return end({ outcome: interrupted() });
    return end({ outcome: failureOutcome(error), error });
  }
}

function identityOf(capsule: Capsule): Launch["identity"] {
  return {
    name: capsule.name,
    kind: capsule.kind === "bare" ? "component" : "folder",
    path: capsule.manifestPath ?? capsule.componentPath,
    ...(capsule.version === undefined ? {} : { version: capsule.version }),
  };
}

function recordStart(
  trace: TraceWriter,
  places: SessionPlaces,
  { resolved, digests, args, identity, containment }: Pick<
    Launch,
    "resolved" | "digests" | "args" | "identity" | "containment"
  >,
): void {
  const { grants } = resolved.grants;
  trace.append("session_start", {
    capsule: identity,
    digest: digests.capsule,
    containment: { ...(grants.containment === undefined ? {} : { declared: grants.containment }), ...containment },
    grants,
    args: guestArguments(resolved, args),
    ...(grants.fs.work === undefined ? {} : { work: places.work }),
    boll_version: BUILD_INFO.version,
  });
}
