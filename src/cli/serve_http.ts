import { CapsuleError, printableJson } from "../base/mod.ts";
import { achievedContainment, checkFloor, DEFAULT_LIMITS } from "../grants/mod.ts";
import { probeHull } from "../hull/mod.ts";
import { type CapsuleDigests, digestCapsule } from "../manifest/mod.ts";
import { createSession, type SessionPlaces, TraceWriter, writePlan } from "../records/mod.ts";
import {
  interrupted,
  isCompiled,
  type LaunchPlan,
  makePlan,
  openHull,
  type Outcome,
  type ServingResult,
  startServing,
} from "../session/mod.ts";
import type { Arguments } from "./arguments.ts";
import { BUILD_INFO } from "./build_info.ts";
import { obtainConsent } from "./consent.ts";
import { Denials } from "./denials.ts";
import { GRANT_OPTIONS, parseMemory, REFUSED_GRANT_FLAGS } from "./grant_flags.ts";
import { DEFAULT_LISTEN, formatListen, parseListen } from "./listen_address.ts";
import { holdComponent } from "./held_component.ts";
import { prepareComponent } from "./prepare_component.ts";
import { failureOutcome, reportEnding, warnOf, warnOfContainment } from "./report_ending.ts";
import { type Resolved, resolveRun } from "./resolve_run.ts";
import type { Context, Verb } from "./verb.ts";

/** `boll serve-http CAPSULE`: a service capsule behind a listener, a fresh instance for each request. */
export const verb: Verb = {
  name: "serve-http",
  summary: "Serve HTTP with a capsule",
  usage: "serve-http CAPSULE [options]",
  operands: { min: 1, max: 1, names: ["CAPSULE"] },
  options: [
    { name: "listen", value: "[HOST:]PORT", summary: "Listen here (127.0.0.1:8080)" },
    { name: "cells", value: "N", summary: "Cells at once (one per core, 4 at most)" },
    { name: "concurrency", value: "N", summary: "Requests at once in a cell (8)" },
    { name: "queue", value: "N", summary: "Requests that may wait, the next gets 503 (128)" },
    { name: "max-body", value: "SIZE", summary: "Longest request body (100m)" },
    ...GRANT_OPTIONS,
    { name: "accept", summary: "Accept a foreign capsule's grants, and remember it" },
    { name: "json", summary: "Print JSON" },
    { name: "quiet", summary: "No notes of boll's own, only errors" },
  ],
  refused: REFUSED_GRANT_FLAGS,
  run: runVerb,
};

const MAX_CELLS = 64;
const MAX_DEFAULT_CELLS = 4;
const MAX_CONCURRENCY = 1_000;
const DEFAULT_CONCURRENCY = 8;
const MAX_QUEUE = 9_999;
const DEFAULT_QUEUE = 128;
const DEFAULT_BODY_MEBIBYTES = 100;
const DEFAULT_REQUEST_MS = 60_000;

/** What was typed about serving, beside grants. */
interface ServeFlags {
  readonly listen: { readonly hostname: string; readonly port: number };
  readonly cells: number;
  readonly concurrency: number;
  readonly queue: number;
  readonly maxBodyBytes: number;
}

async function runVerb(args: Arguments, context: Context): Promise<number> {
  const flags = readServeFlags(args);
  const resolved = await resolveRun(args.operands[0]!, args, context);
  const { limits } = resolved.grants.grants;
  if (limits.cpu_seconds !== undefined) {
    // A cell's instances share one thread: the kernel counts them together.
    throw new CapsuleError(
      "usage.bad_value",
      "Read limits.cpu_seconds: it binds no request; leave it out, deadline_ms does",
    );
  }
  const digests = digestCapsule(resolved.capsule);
  if (!args.has("quiet")) warnOf(resolved, context);
  obtainConsent({ resolved, digest: digests.capsule, accept: args.has("accept"), remember: true }, context);
  return await serveRecorded({ resolved, digests, args, context, flags });
}

/** @throws `usage.bad_value` */
function readServeFlags(args: Arguments): ServeFlags {
  const listen = args.value("listen");
  const maxBody = args.value("max-body");
  return {
    listen: listen === undefined ? DEFAULT_LISTEN : parseListen(listen),
    cells: readCount(args, "cells", MAX_CELLS) ?? Math.min(navigator.hardwareConcurrency, MAX_DEFAULT_CELLS),
    concurrency: readCount(args, "concurrency", MAX_CONCURRENCY) ?? DEFAULT_CONCURRENCY,
    queue: readCount(args, "queue", MAX_QUEUE) ?? DEFAULT_QUEUE,
    maxBodyBytes: (maxBody === undefined ? DEFAULT_BODY_MEBIBYTES : parseMemory(maxBody, "max-body")) * 1024 ** 2,
  };
}

function readCount(args: Arguments, flag: string, max: number): number | undefined {
  const text = args.value(flag);
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,3}$/.test(text) && Number(text) <= max) return Number(text);
  throw new CapsuleError("usage.bad_value", `Read --${flag}: wanted a number from 1 to ${max}`);
}

interface Serving {
  readonly resolved: Resolved;
  readonly digests: CapsuleDigests;
  readonly args: Arguments;
  readonly context: Context;
  readonly flags: ServeFlags;
}

/** From here on there is a session, and every way out writes its ending. */
async function serveRecorded(serving: Serving): Promise<number> {
  const { resolved, digests, args, context } = serving;
  const { capsule, home, grants } = resolved;
  const started = performance.now();
  const never = new AbortController().signal;
  const interrupts = context.watchInterrupts?.() ?? { first: never, second: never };
  using places = createSession(home, grants.work === undefined ? {} : { work: grants.work });
  using trace = new TraceWriter(places, {
    onProblem: (error) => context.stderr.write(`boll: warning: ${error.message}\n`),
  });
  const probe = probeHull();
  const achieved = achievedContainment(probe, { compiled: isCompiled, net: grants.grants.net });
  const declared = grants.grants.containment;
  const containment = { ...(declared === undefined ? {} : { declared }), ...achieved };
  const identity = identityOf(resolved);
  trace.append("session_start", {
    capsule: identity,
    digest: digests.capsule,
    containment,
    grants: grants.grants,
    args: capsule.manifest?.args ?? [],
    ...(grants.grants.fs.work === undefined ? {} : { work: places.work }),
    boll_version: BUILD_INFO.version,
  });
  const end = (how: { readonly outcome: Outcome; readonly error?: unknown }) => {
    const durationMs = Math.round(performance.now() - started);
    trace.append("session_end", { ...how.outcome, duration_ms: durationMs });
    return reportEnding({ args, context, places, containment: achieved.achieved, durationMs, ...how });
  };
  try {
    checkFloor(grants.grants, achieved);
    if (!args.has("quiet")) warnOfContainment(achieved, context);
    const kernel = { landlock: probe.landlockAbi > 0, seccomp: probe.seccomp };
    const result = await serve({ ...serving, places, trace, kernel, identity, containment, interrupts });
    return end({ outcome: outcomeOf(result) });
  } catch (error) {
    if (interrupts.first.aborted) return end({ outcome: interrupted() });
    return end({ outcome: failureOutcome(error), error });
  }
}

interface RecordedServing extends Serving {
  readonly places: SessionPlaces;
  readonly trace: TraceWriter;
  readonly kernel: { readonly landlock: boolean; readonly seccomp: boolean };
  readonly identity: Omit<LaunchPlan["capsule"], "digest">;
  readonly containment: LaunchPlan["containment"];
  readonly interrupts: { readonly first: AbortSignal; readonly second: AbortSignal };
}

async function serve(recorded: RecordedServing): Promise<ServingResult> {
  const { resolved, digests, args, context, flags, places, trace, kernel, interrupts } = recorded;
  const hull = openHull();
  const hasKernelWall = kernel.landlock && kernel.seccomp;
  using held = await holdComponent(() =>
    prepareComponent(resolved, digests.component, hasKernelWall, context, {
      role: "service",
      interrupt: interrupts.first,
      onMismatch: (key, detail) => trace.append("cache_mismatch", { key, detail }),
    })
  );
  const { component } = held;
  const { grants } = resolved;
  const plan = makePlan({
    session_id: places.id,
    boll_version: BUILD_INFO.version,
    capsule: { ...recorded.identity, digest: digests.capsule },
    component,
    grants: grants.grants,
    args: resolved.capsule.manifest?.args ?? [],
    work: places.work,
    containment: recorded.containment,
  });
  writePlan(places, plan);
  const denials = new Denials(resolved.capsule, trace);
  const result = await startServing({
    plan,
    component,
    envValues: grants.envValues,
    places,
    trace,
    ...(hull === undefined ? {} : { hull }),
    kernel,
    upstream: resolved.upstream,
    ...flags,
    requestMs: requestMsOf(resolved, args),
    drain: interrupts.first,
    abort: interrupts.second,
    onListening: (address) => announce(address, recorded),
    onDenied: (denied) => denials.add(denied),
  });
  if (!args.has("quiet") && !args.has("json")) denials.print(context);
  return result;
}

/** A run's default is far too long for one request: unless somebody said how long, it is a minute. */
function requestMsOf({ capsule, grants }: Resolved, args: Arguments): number {
  const { deadline_ms } = grants.grants.limits;
  const isSaid = args.has("deadline") || capsule.manifest?.grants.limits?.deadline_ms !== undefined;
  return isSaid || deadline_ms !== DEFAULT_LIMITS.deadline_ms ? deadline_ms : DEFAULT_REQUEST_MS;
}

function announce({ hostname, port }: Deno.NetAddr, { args, context, places }: RecordedServing): void {
  const url = formatListen({ hostname, port });
  const line = args.has("json")
    ? printableJson({ listening: url, session_id: places.id, pid: Deno.pid })
    : `listening on ${url}`;
  context.stdout.write(`${line}\n`);
}

function identityOf({ capsule }: Resolved): Omit<LaunchPlan["capsule"], "digest"> {
  return {
    name: capsule.name,
    kind: capsule.kind === "bare" ? "component" : "folder",
    path: capsule.manifestPath ?? capsule.componentPath,
    ...(capsule.version === undefined ? {} : { version: capsule.version }),
  };
}

/** A clean drain is how a service ends well. */
function outcomeOf({ requests, failed, isDrained }: ServingResult): Outcome {
  const detail = `${requests} requests, ${failed} of them failed`;
  if (isDrained) return { status: "completed", exit_code: 0, ended_by: "guest", detail };
  return { ...interrupted(), detail: `${detail}; some were cut off` };
}
