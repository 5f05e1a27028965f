import { printableLine } from "../base/mod.ts";
import { type AgentCapsule, allowsOrigin, parseNetEntry, type Peer, type Workspace } from "../manifest/mod.ts";
import type { Grants } from "./grants.ts";
import { checkSecretNames } from "./model_grant.ts";

/** The agents elsewhere that an agent may send messages to. JSON-safe, free of values: variables are named. */
export interface ResolvedPeers {
  readonly peers: readonly Peer[];
  /** Which are left out, and why; one sentence each. */
  readonly warnings: readonly string[];
}

/** What decides to whom an agent may send. */
export interface ResolvePeersInput {
  readonly capsule: AgentCapsule;
  /** The effective ones: the manifest named each peer's origin, and a ceiling or a flag may have taken it away. */
  readonly grants: Grants;
  /** Every `boll.jsonc` above the capsule: a list of secrets there binds, whoever trusts it. */
  readonly workspaces: readonly Workspace[];
}

/**
 * The peers of a manifest whose origin is granted.
 * @throws {CapsuleError} `grant.exceeds_ceiling` when a workspace does not allow a secret
 */
export function resolvePeers({ capsule, grants, workspaces }: ResolvePeersInput): ResolvedPeers {
  const net = grants.net.map(parseNetEntry);
  const isGranted = ({ origin }: Peer) => net.some((entry) => allowsOrigin(entry, origin));
  const { peers } = capsule.manifest;
  const granted = peers.filter(isGranted);
  checkSecretNames(granted.flatMap(({ token }) => token ?? []), workspaces);
  const warnings = peers.filter((peer) => !isGranted(peer)).map(({ name, origin }) =>
    `Dropped the peer ${name}: net has no ${printableLine(origin)}`
  );
  return { peers: granted, warnings };
}

/** Each variable whose value is sent to a peer, and the only origins that it goes to. */
export function peerSecrets(peers: readonly Peer[]): Readonly<Record<string, readonly string[]>> {
  const secrets: Record<string, string[]> = {};
  for (const { token, origin } of peers) {
    if (token !== undefined) secrets[token] = [...new Set([...secrets[token] ?? [], origin])];
  }
  return secrets;
}
