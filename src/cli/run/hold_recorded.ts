import type { LaterTree } from "../tree/run_tree.ts";
import { type HeldComponent, holdComponent } from "./held_component.ts";
import { prepareComponent, type PrepareComponentOptions } from "./prepare_component.ts";
import type { SessionRecord } from "./session_record.ts";

/** Options of {@link holdRecorded}. */
export interface HoldRecordedOptions extends Pick<PrepareComponentOptions, "interrupt" | "role"> {
  /** It can be seen and ended by others from when a build takes long. */
  readonly tree: LaterTree;
}

/** The component of a session that is recorded, ready and held. @throws as {@link prepareComponent} */
export function holdRecorded(
  { resolved, digests, context, trace, kernel }: SessionRecord,
  { tree, ...options }: HoldRecordedOptions,
): Promise<HeldComponent> {
  return holdComponent(() =>
    prepareComponent(resolved, digests.component, kernel.landlock && kernel.seccomp, context, {
      ...options,
      onMismatch: (key, detail) => trace.append("cache_mismatch", { key, detail }),
      onWait: () => tree.open(),
    })
  );
}
