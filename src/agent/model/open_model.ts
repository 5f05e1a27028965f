import { CapsuleError } from "../../base/mod.ts";
import type { Intelligence } from "../../protocol/control/mod.ts";
import type { Model, OpenModelOptions } from "./model.ts";
import { type ModelClock, SYSTEM_MODEL_CLOCK } from "./model_clock.ts";
import { credentialsOf, endpointsOf } from "./wire/model_endpoint.ts";
import { loadWire } from "./wire/wire.ts";
import type { ModelClients } from "./wire/wire_model.ts";

/**
 * Opens the model that a session was given. Nothing is dialled yet. A hot swap opens another one: its breakers are fresh.
 *
 * @throws `model.rejected` for endpoints or a playbook that cannot be used
 */
export async function openModel(intelligence: Intelligence, options: OpenModelOptions = {}): Promise<Model> {
  const { clock = SYSTEM_MODEL_CLOCK } = options;
  if (intelligence.dialect === "scripted") {
    const { playbookOf, ScriptedModel } = await import("./scripted/scripted_model.ts");
    return new ScriptedModel(playbookOf(intelligence.uri), clock);
  }
  return await openWireModel(intelligence, { ...options, clock });
}

async function openWireModel(
  intelligence: Intelligence,
  options: OpenModelOptions & { readonly clock: ModelClock },
): Promise<Model> {
  const { model, dialect } = intelligence;
  const { credential = intelligence.credential, clock, onHealth } = options;
  if (model === undefined) throw new CapsuleError("model.rejected", "Open the model: found no model, wanted its name");
  const wire = dialect === "anthropic" ? "anthropic" : "openai";
  const [endpoints, credentials] = [endpointsOf(intelligence), credentialsOf(intelligence, wire)];
  const [{ WireModel }, openWire] = await Promise.all([import("./wire/wire_model.ts"), loadWire(wire)]);
  return new WireModel({
    endpoints,
    attempt: { openWire, dialect: wire, model, credentials, credential, clock },
    clients: openClients(options),
    clock,
    ...(onHealth === undefined ? {} : { onHealth }),
  });
}

/** Clients of its own: no pool, certificate or proxy is shared with anybody. */
function openClients({ caCerts = [], proxy }: Pick<OpenModelOptions, "proxy" | "caCerts">): ModelClients {
  const direct = Deno.createHttpClient({ caCerts: [...caCerts] });
  if (proxy === undefined) return { direct, outward: direct };
  return { direct, outward: Deno.createHttpClient({ caCerts: [...caCerts], proxy: { url: proxy } }) };
}
