import { type Completion, readCompletion } from "../../records/mod.ts";
import { decideCompletion, type EndingSources, type Launched } from "./decide_completion.ts";
import { reportCompletion, type ReportOptions } from "./report_completion.ts";

/** A launch, and where its ending is recorded and told. */
export interface SettleOptions extends ReportOptions {
  readonly launched: Launched;
}

/**
 * The watcher's part, once, when a child is reaped: decides how it ended, and records and tells what the child did not.
 * The record is written before anybody is told.
 * @throws `home.unwritable` when there can be no record
 */
export async function settleDelegation(
  ending: EndingSources["ending"],
  { launched, ...options }: SettleOptions,
): Promise<Completion> {
  const record = readCompletion(options.places, launched);
  const decided = decideCompletion(launched, record === undefined ? { ending } : { ending, record });
  return isToldAlready(decided, options) ? decided : await reportCompletion(decided, options);
}

/**
 * Whether nothing is left to do: the child's own word counts, and it was delivered or had no address. One that was not
 * delivered is told once more, by the watcher; nobody tries again after it.
 */
export function isToldAlready(decided: Completion, { spawner }: Pick<SettleOptions, "spawner">): boolean {
  return decided.reported_by === "child" && (decided.delivered || spawner.url === undefined);
}
