import { printableLine } from "../../base/mod.ts";
import { achievedContainment, checkFloor, findDanger, type ResolvedModel, toolGrants } from "../../grants/mod.ts";
import { probeHull } from "../../hull/mod.ts";
import { type AgentCapsule, digestCapsule } from "../../manifest/mod.ts";
import { isCompiled } from "../../session/mod.ts";
import type { Arguments } from "../options/arguments.ts";
import { obtainConsent } from "./consent.ts";
import { findRunLock, readStartable } from "./consent_scope.ts";
import { warnOf, warnOfContainment } from "../run/report_ending.ts";
import { needModel, type ResolvedAgent } from "../agent/resolve_agent.ts";
import { isAgentRun, type Resolved } from "../run/resolve_run.ts";
import type { Starting } from "../tree/root_capsule.ts";
import type { Context } from "../verb.ts";

/** Who starts something, and how. */
export interface Starter {
  readonly args: Arguments;
  readonly context: Context;
  /** Store the consent; default true. */
  readonly remember?: boolean;
  /** Where texts come from that no tool reads. */
  readonly inputs?: readonly string[];
}

/**
 * Asks what has to be asked before a capsule starts as the root of a tree, and says what is worth a warning.
 * @throws `usage.bad_value`, `lock.*`, `consent.*`, `grant.floor_unmet`
 */
export async function agreeToStart(resolved: Resolved | ResolvedAgent, starter: Starter): Promise<Starting> {
  const { args, context, remember = true, inputs = [] } = starter;
  const [model, peers] = "model" in resolved ? [needModel(resolved), resolved.peers] : [undefined, []];
  const digests = digestCapsule(resolved.capsule);
  const { grants } = resolved.grants;
  const isQuiet = args.has("quiet");
  if (!isQuiet) warnOf(resolved, context);
  const lock = await findRunLock(resolved);
  const consent = { resolved, digest: digests.capsule, model, peers, lock };
  await obtainConsent({ ...consent, accept: args.has("accept"), remember }, context);
  const probe = probeHull();
  const containment = achievedContainment(probe, { compiled: isCompiled, net: grants.net });
  checkFloor(grants, containment);
  if (!isQuiet) warnOfContainment(containment, context);
  if (!isQuiet && isAgentRun(resolved)) {
    const may_start = await readStartable(grants.spawn, lock);
    warnOfDanger(resolved, dangerOf(resolved, { model, peers, may_start, inputs }), context);
  }
  const never = new AbortController().signal;
  return {
    resolved,
    digests,
    ...(model === undefined ? {} : { model }),
    peers,
    lock,
    args,
    context,
    interrupts: context.watchInterrupts?.() ?? { first: never, second: never },
    containment: { ...(grants.containment === undefined ? {} : { declared: grants.containment }), ...containment },
    kernel: { landlock: probe.landlockAbi > 0, seccomp: probe.seccomp },
  };
}

type Danger = ReturnType<typeof findDanger>;

function dangerOf(
  { capsule, grants: { grants } }: Resolved<AgentCapsule>,
  { model, ...input }: Pick<Parameters<typeof findDanger>[0], "may_start" | "peers" | "inputs"> & {
    readonly model: ResolvedModel | undefined;
  },
): Danger {
  const tools = capsule.tools.map(({ name, grants: own }) => ({ name, grants: toolGrants(own, grants).grants }));
  return findDanger({ tools, ...input, ...(model?.grant === undefined ? {} : { model: model.grant }) });
}

/** No wall binds what a model is talked into. */
function warnOfDanger({ capsule }: Resolved, danger: Danger, context: Context): void {
  if (danger === undefined) return;
  const { untrusted_input, private_data, way_out } = danger;
  const text = `${capsule.name} reads what others wrote (${untrusted_input.join(", ")}), holds what is private (` +
    `${private_data.join(", ")}) and can send it out (${way_out.join(", ")}): what it reads may make it do so`;
  context.stderr.write(`boll: warning: ${printableLine(text, 2_000)}\n`);
}
