import type { EndReason } from "./child_state.ts";
import type { SessionChild } from "./session_child.ts";

/** Each level is gone before the one above is asked, so that no parent misses the end of its children. */
export async function endDeepestFirst(children: readonly SessionChild[], reason: EndReason): Promise<void> {
  const depths = [...new Set(children.map(({ slot }) => slot.depth))].sort((a, b) => b - a);
  for (const depth of depths) {
    const level = children.filter(({ slot }) => slot.depth === depth);
    for (const child of level) child.cancel(reason);
    await Promise.all(level.map(({ ended }) => ended));
  }
}
