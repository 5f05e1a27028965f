import type { Containment } from "../base/mod.ts";
import { type Capsule, capsulePath, isAgent, type Upstream } from "../manifest/mod.ts";
import { achievedContainment, type HullCapabilities } from "./containment.ts";
import type { AgentExplanation } from "./explain_agent.ts";
import { findUnused } from "./find_unused.ts";
import type { ModelGrant } from "./model_grant.ts";
import { explainWalls, type WallExplanation } from "./explain_walls.ts";
import type { Grants } from "./grants.ts";
import { checkImports, type ComponentRole, type MissingImport } from "./imports.ts";
import type { UnboundMount } from "./mounts.ts";
import { peerSecrets } from "./peer_grants.ts";
import type { ResolvedGrants } from "./resolve.ts";

/** What {@link explainGrants} needs; nothing is run or read. */
export interface ExplainGrantsInput {
  readonly capsule: Capsule;
  readonly digest: string;
  readonly resolved: ResolvedGrants;
  readonly probe: HullCapabilities;
  /** `Deno.build.standalone`. */
  readonly compiled: boolean;
  readonly own: boolean;
  /** Whether consent to this digest is stored. */
  readonly accepted: boolean;
  /** The proxy and certificates of the trusted workspaces. */
  readonly upstream?: Pick<Upstream, "proxy" | "ca">;
  /** The component's imports; absent when it was not described. */
  readonly imports?: readonly string[];
  /** Absent: a command. */
  readonly role?: ComponentRole;
  /** What an agent is beside its grants. */
  readonly agent?: AgentExplanation;
}

/** A capsule that another may start; what is absent the lock does not have, or its files are not as it has them. */
export interface StartableExplanation {
  readonly name: string;
  readonly version?: string;
  readonly digest?: string;
  readonly grants?: Grants;
  /** The model of its own that an agent has. */
  readonly model?: ModelGrant;
}

/** JSON-safe: what `boll explain --json` prints and the trace records as effective grants. */
export interface Explanation {
  readonly capsule: {
    readonly name: string;
    readonly version?: string;
    readonly kind: "manifest" | "bare";
    readonly path: string;
  };
  readonly digest: string;
  readonly standing: "own" | "foreign" | "bare";
  readonly consent: "not_needed" | "stored" | "missing";
  readonly containment: {
    readonly asked?: Containment;
    readonly achieved: Containment;
    readonly met: boolean;
    readonly reasons: readonly string[];
  };
  readonly grants: Grants;
  /** Those of its component; of an agent each tool has its own. */
  readonly walls: readonly WallExplanation[];
  readonly agent?: AgentExplanation;
  /** What it may start, as `boll.lock` has that, and what each asks for. Absent when it may start nothing. */
  readonly may_start?: readonly StartableExplanation[];
  /** Imported and not granted. */
  readonly missing: readonly MissingImport[];
  /** Declared mounts that nothing binds: a run is refused until the flag is given. Absent when there are none. */
  readonly unbound?: readonly UnboundMount[];
  /** Granted and never imported; absent when the imports are not known. */
  readonly unused?: readonly string[];
  readonly secrets: Readonly<Record<string, readonly string[]>>;
  readonly warnings: readonly string[];
}

/** What stands for a work folder that is made with its session. */
export const SESSION_WORK = "the session's work folder";

/** What a run would have and what binds it, as data. Pure. */
export function explainGrants(input: ExplainGrantsInput): Explanation {
  const { capsule, resolved, imports } = input;
  const { grants, unbound, warnings } = resolved;
  const standing = capsule.kind === "bare" ? "bare" : input.own ? "own" : "foreign";
  return {
    capsule: {
      name: capsule.name,
      ...(capsule.version === undefined ? {} : { version: capsule.version }),
      kind: capsule.kind,
      path: capsulePath(capsule),
    },
    digest: input.digest,
    standing,
    consent: standing !== "foreign" ? "not_needed" : input.accepted ? "stored" : "missing",
    containment: explainContainment(grants, input),
    grants,
    walls: isAgent(capsule) ? [] : explainWalls(grants, {
      ...(input.role === undefined ? {} : { role: input.role }),
      compiled: input.compiled,
      probe: input.probe,
      work: resolved.work ?? SESSION_WORK,
      ...(input.upstream === undefined ? {} : { upstream: input.upstream }),
    }),
    ...(input.agent === undefined ? {} : { agent: input.agent }),
    missing: imports === undefined ? [] : checkImports(imports, grants, capsule.manifest, input.role),
    ...(unbound.length === 0 ? {} : { unbound }),
    ...(imports === undefined ? {} : { unused: findUnused(grants, imports) }),
    secrets: allSecrets(input.agent),
    warnings,
  };
}

/** Of its model and of its peers: each variable, and every origin that it is sent to. */
function allSecrets(agent: AgentExplanation | undefined): Explanation["secrets"] {
  const all: Record<string, readonly string[]> = { ...agent?.model?.secrets };
  for (const [name, origins] of Object.entries(peerSecrets(agent?.peers ?? []))) {
    all[name] = [...new Set([...all[name] ?? [], ...origins])];
  }
  return all;
}

function explainContainment(grants: Grants, { probe, compiled }: ExplainGrantsInput): Explanation["containment"] {
  const { achieved, reasons } = achievedContainment(probe, { compiled, net: grants.net });
  const why = achieved === "scoped" ? [`Landlock ABI ${probe.landlockAbi} and seccomp, probed on this host`] : reasons;
  return {
    ...(grants.containment === undefined ? {} : { asked: grants.containment }),
    achieved,
    met: grants.containment !== "scoped" || achieved === "scoped",
    reasons: why,
  };
}
