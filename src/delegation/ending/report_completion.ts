import { type Completion, type SessionPaths, writeCompletion } from "../../records/mod.ts";
import type { SpawnerHandle } from "../../session/mod.ts";
import { noticeRequest } from "../notice/notice.ts";
import { postNotice, type PostNoticeOptions } from "../notice/post_notice.ts";

/** Where an ending is recorded, and to whom it is told. */
export interface ReportOptions extends PostNoticeOptions {
  readonly places: Pick<SessionPaths, "completion">;
  /** Without an address the ending is only recorded: whoever waits on the control channel needs no report. */
  readonly spawner: SpawnerHandle;
  /** Takes one line when the notice did not arrive. */
  readonly warn: (line: string) => void;
}

/**
 * Records an ending and tells the parent, once. The record is written before the post and again after it, so that a
 * reporter that dies in between leaves the outcome. `terminated` is told to nobody: who ended it knows.
 * @throws `home.unwritable` when there can be no record; then nothing is posted, and it is the watcher's turn
 */
export async function reportCompletion(ending: Completion, options: ReportOptions): Promise<Completion> {
  const { places, spawner: { url, ...context }, warn } = options;
  const { delivery_error: _, ...rest } = ending;
  const before: Completion = { ...rest, delivered: false };
  writeCompletion(places, before);
  if (ending.status === "terminated" || url === undefined) return before;
  const delivery = await postNotice(url, noticeRequest(before, { ...context, url }), options);
  const after: Completion = delivery.delivered
    ? { ...before, delivered: true }
    : { ...before, delivery_error: delivery.error };
  writeCompletion(places, after);
  if (!delivery.delivered) warn(`Report ${ending.delegation_id}: not delivered, and recorded: ${delivery.error}`);
  return after;
}
