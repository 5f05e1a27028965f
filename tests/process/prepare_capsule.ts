import { cacheKey, findCached } from "../../src/component/mod.ts";
import { type Grants, NO_GRANTS } from "../../src/grants/mod.ts";
import { commandOf, digestCapsule, loadCapsule } from "../../src/manifest/mod.ts";
import type { SpawnPayload } from "../../src/protocol/control/mod.ts";
import { openHome, runtimeFolder } from "../../src/records/mod.ts";
import { commandTask, type PreparedSession, prepareSession, type SpawnerHandle } from "../../src/session/mod.ts";
import type { Bed } from "../harness.ts";

/** How boll is started, and in what environment. */
export type Surroundings = Pick<Bed, "mode" | "command" | "environment">;

/** What differs from a plain session of a guest. */
export interface SessionOptions {
  readonly grants?: Partial<Omit<Grants, "limits">>;
  /** The guest's limits. */
  readonly guestLimits?: Partial<Grants["limits"]>;
  readonly limits?: Partial<SpawnPayload["limits"]>;
  readonly task?: Partial<SpawnPayload>;
  readonly envValues?: Readonly<Record<string, string>>;
  readonly spawner?: SpawnerHandle;
}

/** Makes all that a session of the capsule at `path` needs, whose component must be in the cache of the home. */
export async function prepareCapsule(
  bed: Surroundings,
  path: string,
  options: SessionOptions = {},
): Promise<PreparedSession> {
  const environment = bed.environment();
  const read = (name: string) => environment[name];
  const home = openHome(read);
  const capsule = commandOf(await loadCapsule(path));
  const digests = digestCapsule(capsule);
  const base: Grants = { ...NO_GRANTS, stdio: true, clocks: true, random: true };
  const grants = { ...base, ...options.grants, limits: { ...base.limits, ...options.guestLimits } };
  const component = findCached(home.cache, cacheKey(digests.component, { memoryMb: grants.limits.memory_mb }));
  if (component === undefined) throw new Error(`Prepare a session of ${path}: its component is not built`);
  const limits = { max_steps: 1, max_tokens: 1, deadline_ms: 60_000, max_depth: 1, ...options.limits };
  const prepared = prepareSession({
    home,
    runtime: runtimeFolder(read),
    boll_version: "0.0.0-test",
    capsule: { name: capsule.name, kind: "component", path, digest: digests.capsule },
    component,
    grants,
    envValues: options.envValues ?? {},
    containment: { achieved: "advisory", reasons: [] },
    ...(options.spawner === undefined ? {} : { spawner: options.spawner }),
    task: {
      ...commandTask({ name: "agent-1", path: "0.1", depth: 1, runId: "run-1", logContent: false, limits }, []),
      ...options.task,
    },
  });
  return bed.mode === "source" ? prepared : { ...prepared, launch: asExecutable(bed, prepared.launch) };
}

/** The launch as the executable is started, whatever started this. */
export function asExecutable(bed: Surroundings, launch: PreparedSession["launch"]): PreparedSession["launch"] {
  const { DENO_DIR: _, DENO_NO_UPDATE_CHECK: __, ...env } = launch.env;
  return { ...launch, program: bed.command([])[0]!, args: [], env };
}
