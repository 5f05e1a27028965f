import { collectOrphans, openHull, Pause, runForeground, terminated } from "../../session/mod.ts";
import type { Arguments } from "../options/arguments.ts";
import { Denials } from "./denials.ts";
import { holdRecorded } from "./hold_recorded.ts";
import type { Resolved } from "./resolve_run.ts";
import type { DelegatingOptions, DelegatingRun } from "../tree/delegating_run.ts";
import { type LaterTree, RunTree } from "../tree/run_tree.ts";
import { type RecordedEnding, type SessionRecord, writePlanOf } from "./session_record.ts";
import { STOP_REASON } from "../tree/stop_reason.ts";
import type { Context } from "../verb.ts";

/** What a user's signals abort: the first asks for an end, the second for one at once. */
export type Interrupts = ReturnType<NonNullable<Context["watchInterrupts"]>>;

/**
 * Builds what is missing, writes the plan, runs in the foreground, and prints what would allow what was denied.
 *
 * @throws `component.*`, `grant.import_not_granted`, `hull.*`, `cell.start_failed`
 */
export async function launch(record: SessionRecord, interrupts: Interrupts): Promise<RecordedEnding> {
  const [stopped, pause] = [new AbortController(), new Pause()];
  await using tree = RunTree.later({ record, stop: () => stopped.abort(STOP_REASON), pause });
  const ended = AbortSignal.any([interrupts.first, stopped.signal]);
  try {
    const ending = await runIn(record, { tree, pause, interrupt: ended, killing: interrupts.second });
    const isStopped = stopped.signal.aborted && ending.outcome.ended_by === "interrupted";
    return isStopped ? { outcome: terminated() } : ending;
  } catch (error) {
    // Stopped while its component was built.
    if (stopped.signal.aborted && !interrupts.first.aborted) return { outcome: terminated() };
    throw error;
  }
}

interface Control {
  readonly tree: LaterTree;
  readonly pause: Pause;
  readonly interrupt: AbortSignal;
  /** Aborts when nobody waits any more. */
  readonly killing: AbortSignal;
}

async function runIn(record: SessionRecord, { tree, pause, interrupt, killing }: Control): Promise<RecordedEnding> {
  const { resolved, places, trace, context, args, kernel } = record;
  const hull = openHull();
  using _orphans = collectOrphans();
  using held = await holdRecorded(record, { tree, interrupt });
  const { component } = held;
  const denials = new Denials(resolved.capsule, trace);
  const plan = writePlanOf(record, component);
  await using delegating = await openDelegating(record, {
    ending: interrupt,
    killing,
    onStart: (places) => tree.add(places),
    onEnd: (places) => tree.remove(places),
  });
  if (delegating !== undefined) tree.grow(delegating.tree);
  const running = runForeground({
    plan,
    component,
    envValues: resolved.grants.envValues,
    places,
    trace,
    ...(hull === undefined ? {} : { hull }),
    kernel,
    upstream: resolved.upstream,
    interrupt,
    ...(delegating === undefined ? {} : delegating.run),
    pause,
    onDenied: (denied) => denials.add(denied),
  });
  tree.started();
  const { outcome, usage } = await running;
  await delegating?.[Symbol.asyncDispose]();
  if (!args.has("quiet") && !args.has("json")) denials.print(context);
  if (usage === undefined) return { outcome };
  const { memory_percent, bytes_written, output_bytes } = usage;
  return { outcome, usage: { memory_percent, bytes_written, output_bytes } };
}

/** The code of delegations is loaded only by a run that may delegate. */
async function openDelegating(
  record: SessionRecord,
  options: DelegatingOptions,
): Promise<DelegatingRun | undefined> {
  if (record.resolved.grants.grants.spawn.length === 0) return undefined;
  const { DelegatingRun } = await import("../tree/delegating_run.ts");
  return await DelegatingRun.open(record, options);
}

/** The manifest's own arguments come first, then what the operator typed. */
export function guestArguments({ capsule }: Resolved, args: Arguments): readonly string[] {
  return [...(capsule.manifest?.args ?? []), ...args.rest];
}
