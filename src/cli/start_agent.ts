import { printableLine } from "../base/mod.ts";
import { achievedContainment, checkFloor, findDanger, toolGrants } from "../grants/mod.ts";
import { probeHull } from "../hull/mod.ts";
import { digestCapsule } from "../manifest/mod.ts";
import { isCompiled } from "../session/mod.ts";
import type { Arguments } from "./arguments.ts";
import { obtainConsent } from "./consent.ts";
import { findRunLock, readStartable } from "./consent_scope.ts";
import { warnOf, warnOfContainment } from "./report_ending.ts";
import { needModel, type ResolvedAgent } from "./resolve_agent.ts";
import type { Starting } from "./root_capsule.ts";
import type { Context } from "./verb.ts";

/** How an agent is started. */
export interface StartAgentOptions {
  /** Store the consent (not for a dry run). */
  readonly remember?: boolean;
  /** Where texts come from that no tool reads. */
  readonly inputs?: readonly string[];
}

/**
 * Asks what has to be asked before an agent starts, and says what is worth a warning.
 * @throws `usage.bad_value`, `lock.*`, `consent.*`, `grant.floor_unmet`
 */
export async function agreeOnAgent(
  resolved: ResolvedAgent,
  { args, context }: { readonly args: Arguments; readonly context: Context },
  { remember = true, inputs = [] }: StartAgentOptions = {},
): Promise<Starting> {
  const model = needModel(resolved);
  const digests = digestCapsule(resolved.capsule);
  const { grants } = resolved.grants;
  const lock = await findRunLock(resolved);
  if (!args.has("quiet")) warnOf(resolved, context);
  const consent = { resolved, digest: digests.capsule, model: model.grant, lock };
  await obtainConsent({ ...consent, accept: args.has("accept"), remember }, context);
  const probe = probeHull();
  const containment = achievedContainment(probe, { compiled: isCompiled, net: grants.net });
  checkFloor(grants, containment);
  if (!args.has("quiet")) {
    warnOfContainment(containment, context);
    const tools = resolved.capsule.tools.map(({ name, grants: own }) => ({
      name,
      grants: toolGrants(own, grants).grants,
    }));
    const may_start = await readStartable(grants.spawn, lock);
    warnOfDanger(resolved.capsule.name, findDanger({ tools, may_start, model: model.grant, inputs }), context);
  }
  const never = new AbortController().signal;
  return {
    resolved,
    digests,
    model,
    lock,
    args,
    context,
    interrupts: context.watchInterrupts?.() ?? { first: never, second: never },
    containment: { ...(grants.containment === undefined ? {} : { declared: grants.containment }), ...containment },
    kernel: { landlock: probe.landlockAbi > 0, seccomp: probe.seccomp },
  };
}

/** No wall binds what a model is talked into. */
function warnOfDanger(name: string, danger: ReturnType<typeof findDanger>, context: Context): void {
  if (danger === undefined) return;
  const { untrusted_input, private_data, way_out } = danger;
  const text = `${name} reads what others wrote (${untrusted_input.join(", ")}), holds what is private (` +
    `${private_data.join(", ")}) and can send it out (${way_out.join(", ")}): what it reads may make it do so`;
  context.stderr.write(`boll: warning: ${printableLine(text, 2_000)}\n`);
}
