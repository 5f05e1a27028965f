/**
 * Manifest, operator's flags and ceilings to `Grants`, and `Grants` to each wall's own language. Enters: a `Capsule`,
 * what the operator typed, workspaces' ceilings. Leaves: one resolved `Grants` value and pure functions of it. It only
 * ever narrows below a ceiling, reads the file system to resolve paths, and changes nothing.
 * @module
 */
export { DEFAULT_LIMITS } from "./grants.ts";
export type { Grants, Limits, MountGrant, MountMode } from "./grants.ts";
export { isIpLiteral, LISTEN_HOST, normalizeHost, parseNetEntry } from "../manifest/mod.ts";
export type { NetEntry, NetScheme } from "../manifest/mod.ts";
export { matchesNet } from "./net_entry.ts";
export type { NetTarget } from "./net_entry.ts";
export { gatePorts, listenPorts } from "./net_walls.ts";
export type { NetPlaces } from "./net_walls.ts";
export { parseEnvFlag, parseMountFlag, parseNetFlag } from "./flags.ts";
export type { EnvFlag, MountFlag, OperatorFlags } from "./flags.ts";
export { NO_GRANTS, spawnedGrants } from "./defaults.ts";
export { fitGrants } from "./fit_grants.ts";
export type { FitGrantsInput, FittedGrants, Misfit } from "./fit_grants.ts";
export { narrow } from "./narrow.ts";
export { explainAgent, findDanger } from "./explain_agent.ts";
export type { AgentExplanation, Danger, ExplainAgentInput, ToolExplanation } from "./explain_agent.ts";
export { resolveModel } from "./model_grant.ts";
export type { ModelFlags, ModelGrant, ResolvedModel, ResolveModelInput } from "./model_grant.ts";
export { peerSecrets, resolvePeers } from "./peer_grants.ts";
export { callsAtOnce, toolGrants, toolInstances } from "./tool_grants.ts";
export type { Dropped, Narrowed } from "./narrow.ts";
export { resolveGrants } from "./resolve.ts";
export type { ResolvedGrants, ResolveGrantsInput } from "./resolve.ts";
export { resolveFolder } from "./mounts.ts";
export type { UnboundMount } from "./mounts.ts";
export type { ProtectedPlaces } from "./protect.ts";
export { checkImports, refuseImports, toImports } from "./imports.ts";
export type { ComponentRole, MissingImport } from "./imports.ts";
export {
  guestThread,
  HULL_BASE_DATA_BYTES,
  toFlags,
  toHull,
  toPermissions,
  toProcess,
  WORKER_DATA_BYTES,
} from "./walls.ts";
export type { CellPlaces, ChildFlags, GuestThread } from "./walls.ts";
export { achievedContainment, checkFloor } from "./containment.ts";
export type { ContainmentResult, HullCapabilities } from "./containment.ts";
export { explainGrants, SESSION_WORK } from "./explain.ts";
export type { ExplainGrantsInput, Explanation, StartableExplanation } from "./explain.ts";
export type { WallExplanation } from "./explain_walls.ts";
