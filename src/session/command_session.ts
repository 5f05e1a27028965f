import { CapsuleError } from "../base/mod.ts";
import { type CachedComponent, cacheKey, findCached, findRunName } from "../component/mod.ts";
import { checkImports, type Grants, refuseImports } from "../grants/mod.ts";
import { digestCapsule, loadCapsule, parseProxy } from "../manifest/mod.ts";
import { ALLOWED_TOOLS_ROLE, distil, type SpawnPayload } from "../protocol/control/mod.ts";
import type { Delegator } from "./delegator.ts";
import type { Denied } from "./run_cell.ts";
import type { RunUpstream } from "./run_network.ts";
import { readCertificates } from "./read_certificates.ts";
import { runCaptured } from "./run_captured.ts";
import type { RoleResult, SessionWork } from "./session_work.ts";

/**
 * The role `command`: one cell, whose guest reads the instruction on its stdin; what it writes on stdout is the answer.
 * The capsule must be the one that was meant, and its component must have been built: a session builds none.
 *
 * @throws `capsule.*`, `component.*`, `grant.*`, `hull.failed`, `cell.start_failed`, `payload.unsupported`
 */
export async function runCommandSession(work: SessionWork): Promise<RoleResult> {
  const { payload, places, plan, trace, control } = work;
  refuseUnsupported(payload);
  const component = await findComponent(payload, plan.grants);
  const result = await runCaptured({
    plan,
    component,
    envValues: Object.fromEntries(payload.env),
    places,
    trace,
    kernel: work.kernel,
    ...(work.hull === undefined ? {} : { hull: work.hull }),
    ...upstreamOf(payload),
    ...await delegatorOf(work),
    tmp: work.tmp,
    interrupt: control.signal,
    input: payload.instruction,
    pause: control.pause,
    onDenied: (denied) => trace.append("denied", deniedEvent(denied)),
    onReady: () => control.sayReady(),
  });
  if (result.failure !== undefined) throw result.failure;
  return { outcome: result.outcome, answer: distil(result.head), ...(result.usage ? { usage: result.usage } : {}) };
}

/** What would have no effect is refused by name, and so is what only a session with a model can do. */
function refuseUnsupported(payload: SpawnPayload): void {
  const found = Object.entries(withoutEffect(payload)).find(([, isThere]) => isThere)?.[0];
  if (found === undefined) return;
  throw new CapsuleError("payload.unsupported", `Start a command session: found ${found}, which a command has not`);
}

/** Whether what a command has no use for is there. The tool grant is minted for every session, and binds its supervisor. */
function withoutEffect(payload: SpawnPayload) {
  const { output_contract, output_schema, context_seed, intelligence, mcp_servers, a2a_peers, gated_tools } = payload;
  return {
    output_contract: output_contract !== undefined,
    output_schema: output_schema !== undefined,
    context_seed: context_seed.some(({ role }) => role !== ALLOWED_TOOLS_ROLE),
    intelligence: intelligence !== undefined,
    mcp_servers: mcp_servers.length > 0,
    a2a_peers: a2a_peers.length > 0,
    gated_tools: gated_tools.length > 0,
    warm: payload.warm,
    turn: payload.turn !== undefined,
  };
}

async function findComponent({ capsule, places }: SpawnPayload, grants: Grants): Promise<CachedComponent> {
  const loaded = await loadCapsule(capsule.path);
  const digests = digestCapsule(loaded);
  if (digests.capsule !== capsule.digest) {
    throw new CapsuleError(
      "capsule.changed",
      `Start a session of ${loaded.name}: found digest ${digests.capsule}, wanted ${capsule.digest}`,
    );
  }
  const component = findCached(places.cache, cacheKey(digests.component, { memoryMb: grants.limits.memory_mb }));
  if (component === undefined) {
    throw new CapsuleError("component.cache_mismatch", `Start a session of ${loaded.name}: its component is not built`);
  }
  if (findRunName(component.description.exports) === undefined) {
    throw new CapsuleError("component.no_run_export", `Start a session of ${loaded.name}: it is no command`);
  }
  const missing = checkImports(component.description.imports, grants, loaded.manifest, "command");
  if (missing.length > 0) throw refuseImports(missing, loaded.manifestPath);
  return component;
}

/** Only a session that may delegate loads what that takes. */
async function delegatorOf({ plan, trace, control }: SessionWork): Promise<{ delegator?: Delegator }> {
  if (plan.grants.spawn.length === 0) return {};
  const { remoteLauncher } = await import("./remote_launcher.ts");
  const { recordedDelegator } = await import("./recorded_delegator.ts");
  return { delegator: recordedDelegator(remoteLauncher(control.requests), trace) };
}

function upstreamOf({ upstream, tls_ca }: SpawnPayload): { upstream?: RunUpstream } {
  if (upstream === undefined && tls_ca === undefined) return {};
  return {
    upstream: {
      ...(upstream?.proxy === undefined ? {} : { proxy: parseProxy(upstream.proxy) }),
      certificates: [...upstream?.ca_certs ?? [], ...(tls_ca === undefined ? [] : [readCertificates(tls_ca)])],
    },
  };
}

function deniedEvent({ grant, asked, allow }: Denied) {
  return { wall: "imports", grant, asked, allow: { flag: allow } } as const;
}
