import { dirname } from "@std/path";
import type { CachedComponent } from "../component/mod.ts";
import { type Grants, toFlags } from "../grants/mod.ts";
import type { Upstream } from "../manifest/mod.ts";
import type { DoorSpec, SpawnPayload } from "../protocol/control/mod.ts";
import { createSession, type Home, makeTemporaryFolder, type SessionPlaces, writePlan } from "../records/mod.ts";
import type { SessionLaunch } from "../supervisor/tree/mod.ts";
import { narrowToLimits } from "./check_limits.ts";
import { type LaunchPlan, makePlan } from "./plan.ts";
import { readCertificates } from "./network/read_certificates.ts";
import { selfCommand, sessionEnvironment, sourceFlags, SPAWNER } from "./self_command.ts";
import { encodeSpawner, type SpawnerHandle } from "./delegations/spawner_handle.ts";

/** A resolved capsule, and what a session of it is to do. */
export interface SessionRequest extends Pick<LaunchPlan, "boll_version" | "capsule" | "containment"> {
  readonly home: Home;
  /** Built with the memory that `grants` give; absent for an agent. */
  readonly component?: CachedComponent;
  /** An agent's, by name: each built with the memory that its own grants give. */
  readonly tools?: Readonly<Record<string, CachedComponent>>;
  readonly grants: Grants;
  /** Values of the granted variables: in the first frame and nowhere else. */
  readonly envValues: Readonly<Record<string, string>>;
  /** What goes into the first frame as it is. */
  readonly task: Omit<SpawnPayload, "capsule" | "grants" | "places" | "env" | "upstream">;
  /** Its door, when that depends on its places. */
  readonly door?: (places: SessionPlaces) => DoorSpec;
  /** The real path of a folder that the operator chose; default the session's own. */
  readonly work?: string;
  /** The operator's proxy and certificates. */
  readonly upstream?: Pick<Upstream, "proxy" | "ca">;
  readonly spawner?: SpawnerHandle;
  /** Where the process's own folder is made; default the runtime folder. */
  readonly runtime?: string;
}

/** A session that can be started. Its places are this process's until it is disposed of, when the child is gone. */
export interface PreparedSession extends Disposable {
  readonly places: SessionPlaces;
  readonly launch: SessionLaunch;
}

/**
 * Makes a session's places and writes its plan, before anything starts.
 * @throws `home.unwritable`, `runtime.unusable`, `workspace.invalid`
 */
export function prepareSession(request: SessionRequest): PreparedSession {
  const { home, task, work } = request;
  const upstream = upstreamOf(request.upstream);
  const grants = narrowToLimits({ limits: task.limits, grants: request.grants });
  const places = createSession(home, work === undefined ? {} : { work });
  try {
    writePlan(places, planOf(request, grants, places));
    const { name, version = "", digest, path } = request.capsule;
    const { door } = request;
    const payload: SpawnPayload = {
      ...task,
      ...(door === undefined ? {} : { door: door(places) }),
      capsule: { name, version, digest, path },
      grants,
      places: { session_id: places.id, root: places.root, work: places.work, cache: home.cache },
      env: Object.entries(request.envValues),
      ...upstream,
    };
    const tmp = makeTemporaryFolder(request.runtime);
    return {
      places,
      launch: { ...commandOf(request, payload, tmp.path), payload },
      [Symbol.dispose]() {
        tmp.remove();
        places.close();
      },
    };
  } catch (error) {
    places.close();
    throw error;
  }
}

function planOf(
  { boll_version, capsule, component, tools, containment, task, spawner }: SessionRequest,
  grants: Grants,
  places: SessionPlaces,
) {
  const { args, role, depth, limits } = task;
  const { id: session_id, work } = places;
  const { session_id: spawned_by, delegation_id } = spawner ?? {};
  const lineage = spawned_by === undefined || delegation_id === undefined ? {} : { spawned_by, delegation_id };
  const session = { role, depth, limits, ...lineage };
  const components = { ...(component === undefined ? {} : { component }), ...(tools === undefined ? {} : { tools }) };
  return makePlan({ session_id, boll_version, capsule, ...components, grants, args, work, containment, session });
}

function upstreamOf(upstream: SessionRequest["upstream"]): Pick<SpawnPayload, "upstream"> {
  if (upstream?.proxy === undefined && upstream?.ca === undefined) return {};
  const { proxy, ca } = upstream;
  return {
    upstream: {
      ...(proxy === undefined
        ? {}
        : { proxy: `http://${proxy.host.includes(":") ? `[${proxy.host}]` : proxy.host}:${proxy.port}` }),
      ...(ca === undefined ? {} : { ca_certs: [readCertificates(ca)] }),
    },
  };
}

function commandOf({ capsule, spawner }: SessionRequest, payload: SpawnPayload, tmp: string) {
  const { sources, env } = sourceFlags();
  const { root, cache } = payload.places;
  const own = selfCommand(toFlags({
    kind: "session",
    read: [
      capsule.kind === "folder" ? dirname(capsule.path) : capsule.path,
      cache,
      ...(payload.tls_ca === undefined ? [] : [payload.tls_ca]),
    ],
    write: [root, tmp, ...(payload.door?.service === undefined ? [] : [payload.door.service.folder])],
    run: Deno.execPath(),
    net: [payload.door, payload.intelligence, payload.grants.net[0]].some((one) => one !== undefined),
    uid: payload.door?.service !== undefined,
    sources,
    env: [...env, "DENO_DIR", SPAWNER],
  }));
  const handle = spawner === undefined ? undefined : encodeSpawner(spawner);
  return { program: own.program, args: own.args, env: sessionEnvironment(tmp, own, handle) };
}
