import { distil, type TaskOutcome } from "../../protocol/control/mod.ts";
import type { ChildEffect } from "./child_state.ts";

/** What a session may ask for beside its result, and this supervisor does not offer. */
const NOT_OFFERED = ["scheduled", "subscriptions"] as const;

/**
 * An outcome as it is handed on: its text cut, also when the session left that undone. What it asks
 * for is carried, and refused in the log by name.
 */
export function receiveOutcome(told: TaskOutcome): { readonly outcome: TaskOutcome; readonly effects: ChildEffect[] } {
  const asked = NOT_OFFERED.filter((name) => told[name].length > 0);
  return {
    outcome: { ...told, result: distil(told.result) },
    effects: asked.map((name) => ({
      kind: "log",
      line: `refused ${name}, ${told[name].length} of them: this supervisor does not offer it`,
    })),
  };
}
