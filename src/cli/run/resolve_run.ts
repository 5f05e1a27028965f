import { type OperatorFlags, type ResolvedGrants, resolveGrants, type ResolveGrantsInput } from "../../grants/mod.ts";
import {
  type AgentCapsule,
  type Capsule,
  type CommandCapsule,
  commandOf,
  findUpstream,
  findWorkspaces,
  isAgent,
  loadCapsule,
  openTrust,
  type Trust,
  type Upstream,
  type Workspace,
} from "../../manifest/mod.ts";
import { type Home, openHome, runtimeFolder } from "../../records/mod.ts";
import type { Arguments } from "../options/arguments.ts";
import { readGrantFlags } from "../options/grant_flags.ts";
import type { Context } from "../verb.ts";

/** A capsule and the whole authority it would run with. */
export interface Resolved<Kind extends Capsule = Capsule> {
  readonly capsule: Kind;
  readonly home: Home;
  readonly trust: Trust;
  /** Whether the capsule is the operator's own: its manifest is the operator's word. */
  readonly own: boolean;
  readonly grants: ResolvedGrants;
  /** Every `boll.jsonc` above the capsule, nearest first. */
  readonly workspaces: readonly Workspace[];
  /** The proxy and certificates between the gate and the network. */
  readonly upstream: Upstream;
}

/** Options of {@link resolveRun}. */
export interface ResolveRunOptions extends Pick<ResolveGrantsInput, "unbound"> {
  /** What the operator answered, beside what was typed as flags. */
  readonly answers?: Answers;
  /** Refuses a capsule before its grants are looked at: what is missing for a run that cannot be helps nobody. */
  readonly check?: (capsule: Capsule) => void;
}

/** Grants that the operator gave when asked. */
export type Answers = Pick<OperatorFlags, "mounts" | "net" | "clocks" | "random">;

/**
 * What a capsule would run with: manifest, operator's flags and every ceiling above it, resolved. `unbound: "list"` keeps mounts that nothing binds
 * apart instead of refusing them.
 *
 * @throws `capsule.*`, `manifest.*`, `workspace.invalid`, `grant.*`, `usage.bad_value`, `home.unwritable`
 */
export async function resolveRun(
  path: string,
  args: Arguments,
  context: Context,
  { unbound, answers = {}, check }: ResolveRunOptions = {},
): Promise<Resolved> {
  const flags = addAnswers(readGrantFlags(args), answers);
  const capsule = await loadCapsule(path);
  check?.(capsule);
  const workspaces = await findWorkspaces(capsule.root);
  const home = openHome(context.readVariable);
  const trust = openTrust(home.root);
  const own = trust.isOwn(capsule, workspaces);
  const resolved = resolveGrants({
    capsule,
    own,
    workspaces,
    trusted: trust.trustedWorkspaces(),
    flags,
    places: { home: home.root, executable: Deno.execPath(), runtime: runtimeFolder(context.readVariable) },
    readEnv: context.readVariable,
    unbound: unbound ?? "refuse",
  });
  const upstream = findUpstream(workspaces, trust);
  const ignored = resolved.grants.net.length === 0 ? [] : upstream.warnings;
  const grants = { ...resolved, warnings: [...resolved.warnings, ...ignored] };
  return { capsule, home, trust, own, grants, workspaces, upstream };
}

/** Whether what was named is an agent. */
export function isAgentRun(resolved: Resolved): resolved is Resolved<AgentCapsule> {
  return isAgent(resolved.capsule);
}

/** What only a command or a service can be asked. @throws `capsule.is_agent` */
export function asCommand(resolved: Resolved): Resolved<CommandCapsule> {
  return { ...resolved, capsule: commandOf(resolved.capsule) };
}

function addAnswers(flags: OperatorFlags, answers: Answers): OperatorFlags {
  const net = [...(flags.net ?? []), ...(answers.net ?? [])];
  return {
    ...flags,
    ...answers,
    mounts: [...(flags.mounts ?? []), ...(answers.mounts ?? [])],
    ...(net.length === 0 ? {} : { net }),
  };
}
