/**
 * Text to `Manifest`: reads `capsule.jsonc` and `boll.jsonc`, names every problem at once with its place, loads what a
 * user names as a `Capsule`, computes digests, and keeps the operator's trust. Enters: paths and text, all of it
 * possibly hostile. Leaves: checked values. It grants nothing, runs nothing and parses no component. The schema (zod)
 * is loaded only when a file is really parsed.
 * @module
 */
import type { Manifest } from "./manifest.ts";

export { capsulePath, commandOf, isAgent, loadCapsule, MANIFEST_NAME } from "./capsule.ts";
export { type AgentDigests, type CapsuleDigests, type CommandDigests, digestCapsule } from "./digest_capsule.ts";
export { type Endpoint, parseEndpoints, parseOrigin } from "./endpoint.ts";
export { digestBytes, digestFile, digestFolder } from "./digest.ts";
export { isCredentialName } from "./credentials.ts";
export { guestPathsOverlap, normalizeGuestPath, RESERVED_GUEST_PATHS } from "./guest_path.ts";
export { globOverlaps, matchesBelow, matchesGlob } from "./glob.ts";
export { CAPSULE_NAME, MAX_VERSION, SEMVER } from "./names.ts";
export { readText } from "./regular_file.ts";
export {
  allowsOrigin,
  isIpLiteral,
  LISTEN_HOST,
  matchesHost,
  normalizeHost,
  parseNetEntry,
  parseProxy,
} from "./net_entry.ts";
export type { NetEntry, NetScheme, Proxy } from "./net_entry.ts";
export { openTrust } from "./trust.ts";
export type { Trust, TrustedWorkspace } from "./trust.ts";
export { findUpstream } from "./upstream.ts";
export type { Upstream } from "./upstream.ts";
export { findWorkspaces, readWorkspace, WORKSPACE_NAME } from "./workspace.ts";
export type {
  AgentCapsule,
  AgentManifest,
  AgentSkill,
  AgentTool,
  Capsule,
  Capture,
  CommandCapsule,
  Inference,
  InferenceDialect,
  InferenceHeader,
  Manifest,
  Peer,
  Positions,
  Workspace,
} from "./manifest.ts";
export type { DeclaredGrants, DeclaredLimits, DeclaredMount } from "./grants_schema.ts";

/**
 * Reads the text of a `capsule.jsonc`; `file` names it in messages. All problems are reported at once, each as
 * `file:line:column: path: found, allowed`.
 *
 * @throws {CapsuleError} `manifest.syntax` or `manifest.invalid`, with every problem in `problems`.
 */
export async function parseManifest(text: string, file: string): Promise<Manifest> {
  return (await import("./parse_manifest.ts")).parseManifest(text, file);
}
