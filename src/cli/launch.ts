import { collectOrphans, openHull, Pause, runForeground, terminated } from "../session/mod.ts";
import type { Arguments } from "./arguments.ts";
import { Denials } from "./denials.ts";
import { holdComponent } from "./held_component.ts";
import { prepareComponent } from "./prepare_component.ts";
import type { Resolved } from "./resolve_run.ts";
import { TreeOfOne } from "./tree_of_one.ts";
import { type RecordedEnding, type SessionRecord, writePlanOf } from "./session_record.ts";

/**
 * Builds what is missing, writes the plan, runs in the foreground, and prints what would allow what was denied.
 *
 * @throws `component.*`, `grant.import_not_granted`, `hull.*`, `cell.start_failed`
 */
export async function launch(record: SessionRecord, interrupt: AbortSignal): Promise<RecordedEnding> {
  const { resolved, digests, places, trace, context, args, kernel } = record;
  const hull = openHull();
  using _orphans = collectOrphans();
  using held = await holdComponent(() =>
    prepareComponent(resolved, digests.component, kernel.landlock && kernel.seccomp, context, {
      interrupt,
      onMismatch: (key, detail) => trace.append("cache_mismatch", { key, detail }),
    })
  );
  const { component } = held;
  const denials = new Denials(resolved.capsule, trace);
  const [stopped, pause] = [new AbortController(), new Pause()];
  const running = runForeground({
    plan: writePlanOf(record, component),
    component,
    envValues: resolved.grants.envValues,
    places,
    trace,
    ...(hull === undefined ? {} : { hull }),
    kernel,
    upstream: resolved.upstream,
    interrupt: AbortSignal.any([interrupt, stopped.signal]),
    pause,
    onDenied: (denied) => denials.add(denied),
  });
  await using _tree = new TreeOfOne({ record, stop: () => stopped.abort(), pause });
  const { outcome, usage } = await running;
  if (!args.has("quiet") && !args.has("json")) denials.print(context);
  if (stopped.signal.aborted && outcome.ended_by === "interrupted") return { outcome: terminated() };
  if (usage === undefined) return { outcome };
  const { memory_percent, bytes_written, output_bytes } = usage;
  return { outcome, usage: { memory_percent, bytes_written, output_bytes } };
}

/** The manifest's own arguments come first, then what the operator typed. */
export function guestArguments({ capsule }: Resolved, args: Arguments): readonly string[] {
  return [...(capsule.manifest?.args ?? []), ...args.rest];
}
