import { CapsuleError, printableLine } from "../../base/mod.ts";
import { type ResolvedModel, resolveModel, resolvePeers, toolGrants } from "../../grants/mod.ts";
import type { AgentCapsule, Peer } from "../../manifest/mod.ts";
import type { Arguments } from "../options/arguments.ts";
import { readModelFlags } from "../options/model_flags.ts";
import type { Resolved } from "../run/resolve_run.ts";

/** An agent, the whole authority of its tools, its model and its peers. */
export interface ResolvedAgent extends Resolved<AgentCapsule> {
  readonly model: ResolvedModel;
  /** Those that it may send to. */
  readonly peers: readonly Peer[];
}

/**
 * An agent with its model, as the manifest and the operator's flags say; what its tools ask for beyond it is warned of.
 * @throws `usage.bad_value`, `inference.bad_uri`, `grant.exceeds_ceiling`
 */
export function resolveAgent(resolved: Resolved<AgentCapsule>, args: Arguments): ResolvedAgent {
  const { capsule, grants, workspaces } = resolved;
  const model = resolveModel({ capsule, flags: readModelFlags(args, capsule), workspaces });
  const { peers, warnings: dropped } = resolvePeers({ capsule, grants: grants.grants, workspaces });
  const warnings = [...grants.warnings, ...model.warnings, ...dropped, ...toolWarnings(resolved)];
  return { ...resolved, grants: { ...grants, warnings }, model, peers };
}

/** The model that a session needs which nobody delegated to. @throws `usage.bad_value` */
export function needModel({ capsule, model }: ResolvedAgent): Required<Pick<ResolvedModel, "grant">> & ResolvedModel {
  const { grant } = model;
  if (grant !== undefined) return { ...model, grant };
  throw new CapsuleError(
    "usage.bad_value",
    `Run ${printableLine(capsule.name, 80)}: its inference names no uri; give --uri and --model`,
  );
}

/** Limits that a block names beyond the capsule's are bounded by those, which is no surprise to anybody. */
function toolWarnings({ capsule, grants: { grants } }: Resolved<AgentCapsule>): string[] {
  return capsule.tools.flatMap(({ name, grants: declared }, index) => {
    const line = capsule.manifest.positions.lineOf(`tools[${index}].grants`);
    const where = `${printableLine(capsule.manifestPath)}:${line}`;
    return toolGrants(declared, grants).dropped.flatMap(({ grant, text }) =>
      grant.startsWith("limits.") || !isAsked(grant, declared)
        ? []
        : [`Dropped ${text} of the tool ${name} (${where}): its capsule does not have it`]
    );
  });
}

/** What a block leaves to its defaults it does not ask for. */
function isAsked(grant: string, declared: AgentCapsule["tools"][number]["grants"]): boolean {
  return !["stdio", "clocks", "random"].includes(grant) || Object.hasOwn(declared ?? {}, grant);
}
