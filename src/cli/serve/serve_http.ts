import { CapsuleError, printableJson, printableLine } from "../../base/mod.ts";
import { DEFAULT_LIMITS } from "../../grants/mod.ts";
import { type Capsule, commandOf, digestCapsule } from "../../manifest/mod.ts";
import {
  collectOrphans,
  interrupted,
  openHull,
  type Outcome,
  type ServingResult,
  startServing,
  terminated,
} from "../../session/mod.ts";
import type { Arguments } from "../options/arguments.ts";
import { resolveAsking } from "../consent/ask_for_grants.ts";
import { obtainConsent } from "../consent/consent.ts";
import { Denials } from "../run/denials.ts";
import { GRANT_OPTIONS, parseMemory } from "../options/grant_flags.ts";
import { holdRecorded } from "../run/hold_recorded.ts";
import type { Interrupts } from "../run/launch.ts";
import { DEFAULT_LISTEN, formatListen, parseListen } from "./listen_address.ts";
import { warnOf } from "../run/report_ending.ts";
import { asCommand, type Resolved } from "../run/resolve_run.ts";
import { type RecordedEnding, recordSession, type SessionRecord, writePlanOf } from "../run/session_record.ts";
import { type LaterTree, RunTree } from "../tree/run_tree.ts";
import { MAX_QUEUE, readNumber, servingOptions } from "./serving_options.ts";
import type { Context, Verb } from "../verb.ts";

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
    ...servingOptions("Print JSON"),
  ],
  run: runVerb,
};

const MAX_CELLS = 64;
const MAX_DEFAULT_CELLS = 4;
const MAX_CONCURRENCY = 1_000;
const DEFAULT_CONCURRENCY = 8;
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
  const resolved = asCommand(
    await resolveAsking(args.operands[0]!, args, context, { role: "service", check: commandOf }),
  );
  refuseDelegation(resolved.capsule);
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
  await obtainConsent({ resolved, digest: digests.capsule, accept: args.has("accept"), remember: true }, context);
  const never = new AbortController().signal;
  const interrupts = context.watchInterrupts?.() ?? { first: never, second: never };
  const agreed = { resolved, digests, args, context, guestArgs: resolved.capsule.manifest?.args ?? [] };
  return await recordSession(agreed, interrupts.first, (record) => serve(record, flags, interrupts));
}

/** @throws `usage.bad_value` */
function readServeFlags(args: Arguments): ServeFlags {
  const listen = args.value("listen");
  const maxBody = args.value("max-body");
  return {
    listen: listen === undefined ? DEFAULT_LISTEN : parseListen(listen),
    cells: readNumber(args, "cells", 1, MAX_CELLS) ?? Math.min(navigator.hardwareConcurrency, MAX_DEFAULT_CELLS),
    concurrency: readNumber(args, "concurrency", 1, MAX_CONCURRENCY) ?? DEFAULT_CONCURRENCY,
    queue: readNumber(args, "queue", 1, MAX_QUEUE) ?? DEFAULT_QUEUE,
    maxBodyBytes: (maxBody === undefined ? DEFAULT_BODY_MEBIBYTES : parseMemory(maxBody, "max-body")) * 1024 ** 2,
  };
}

/** No service delegates yet: a grant of it would have no effect. @throws `manifest.invalid` */
function refuseDelegation({ manifest, manifestPath = "" }: Capsule): void {
  if (manifest === undefined || (manifest.grants.spawn ?? []).length === 0) return;
  const { line, column } = manifest.positions.at("grants.spawn");
  throw new CapsuleError(
    "manifest.invalid",
    `${printableLine(manifestPath)}:${line}:${column}: grants.spawn: not supported for a service yet; ` +
      "remove it, or let a command delegate: `boll run`, `boll serve`",
  );
}

async function serve(record: SessionRecord, flags: ServeFlags, interrupts: Interrupts): Promise<RecordedEnding> {
  const [drain, abort] = [new AbortController(), new AbortController()];
  const draining = AbortSignal.any([interrupts.first, drain.signal]);
  // As signals do: the first asks for a drain, the second for an end at once.
  await using tree = RunTree.later({ record, stop: () => (drain.signal.aborted ? abort : drain).abort() });
  try {
    return await serveIn(record, flags, {
      tree,
      interrupts: { first: draining, second: AbortSignal.any([interrupts.second, abort.signal]) },
    });
  } catch (error) {
    // Stopped while its component was built.
    if (drain.signal.aborted && !interrupts.first.aborted) return { outcome: terminated() };
    throw error;
  }
}

interface Control {
  readonly tree: LaterTree;
  readonly interrupts: Interrupts;
}

async function serveIn(
  record: SessionRecord,
  flags: ServeFlags,
  { tree, interrupts }: Control,
): Promise<RecordedEnding> {
  const { resolved, args, context, places, trace, kernel } = record;
  const hull = openHull();
  using _orphans = collectOrphans();
  using held = await holdRecorded(record, { tree, role: "service", interrupt: interrupts.first });
  const { component } = held;
  const denials = new Denials(resolved.capsule, trace);
  const serving = startServing({
    plan: writePlanOf(record, component),
    component,
    envValues: resolved.grants.envValues,
    places,
    trace,
    ...(hull === undefined ? {} : { hull }),
    kernel,
    upstream: resolved.upstream,
    ...flags,
    requestMs: requestMsOf(resolved, args),
    drain: interrupts.first,
    abort: interrupts.second,
    onListening: (address) => announce(address, record),
    onDenied: (denied) => denials.add(denied),
  });
  tree.started();
  const result = await serving;
  if (!args.has("quiet") && !args.has("json")) denials.print(context);
  return { outcome: outcomeOf(result) };
}

/** A run's default is far too long for one request: unless somebody said how long, it is a minute. */
function requestMsOf({ capsule, grants }: Resolved, args: Arguments): number {
  const { deadline_ms } = grants.grants.limits;
  const isSaid = args.has("deadline") || capsule.manifest?.grants.limits?.deadline_ms !== undefined;
  return isSaid || deadline_ms !== DEFAULT_LIMITS.deadline_ms ? deadline_ms : DEFAULT_REQUEST_MS;
}

function announce({ hostname, port }: Deno.NetAddr, { args, context, places }: SessionRecord): void {
  const url = formatListen({ hostname, port });
  const line = args.has("json")
    ? printableJson({ listening: url, session_id: places.id, pid: Deno.pid })
    : `listening on ${url}`;
  context.stdout.write(`${line}\n`);
}

/** A clean drain is how a service ends well. */
function outcomeOf({ requests, failed, isDrained }: ServingResult): Outcome {
  const detail = `${requests} requests, ${failed} of them failed`;
  if (isDrained) return { status: "completed", exit_code: 0, ended_by: "guest", detail };
  return { ...interrupted(), detail: `${detail}; some were cut off` };
}
