import { CapsuleError } from "../../base/mod.ts";
import type { Intelligence } from "../../protocol/control/mod.ts";
import type { Model, OpenModelOptions } from "./model.ts";
import { SYSTEM_MODEL_CLOCK } from "./model_clock.ts";

/**
 * Opens the model that a session was given. Nothing is dialled yet. A hot swap opens another one: its breakers are fresh.
 *
 * @throws `model.rejected` for endpoints or a playbook that cannot be used
 */
export async function openModel(intelligence: Intelligence, options: OpenModelOptions = {}): Promise<Model> {
  const { clock = SYSTEM_MODEL_CLOCK } = options;
  if (intelligence.dialect === "scripted") {
    const { playbookOf, ScriptedModel } = await import("./scripted_model.ts");
    return new ScriptedModel(playbookOf(intelligence.uri), clock);
  }
  throw new CapsuleError("role.unsupported", "Open the model: found a dialect of the network, wanted scripted for now");
}
