import { CapsuleError, errorCodeOf, printableLine } from "../../base/mod.ts";
import { findRunName } from "../../component/mod.ts";
import type { BuiltCapsule, Spawnable, Unspawnable } from "../../delegation/mod.ts";
import { DEFAULT_LIMITS, resolveModel } from "../../grants/mod.ts";
import {
  isLockedAgent,
  loadLocked,
  type Lock,
  type LockedAgent,
  type LockedCapsule,
  type LockedCommand,
} from "../../package/mod.ts";
import { type BuildRequest, ensureComponent } from "../../session/mod.ts";
import type { Intelligence } from "../../protocol/control/mod.ts";
import { buildTools } from "../tools/build_tools.ts";
import { holdComponent } from "../run/held_component.ts";
import { readIntelligence } from "./intelligence.ts";
import type { Resolved } from "../run/resolve_run.ts";
import type { SessionRecord } from "../run/session_record.ts";
import type { Context } from "../verb.ts";

/** Whose capsule it is that delegates, and on which host. */
export interface SpawningRecord extends Pick<SessionRecord, "kernel" | "lock"> {
  readonly resolved: Pick<Resolved, "home" | "grants" | "workspaces">;
  /** The operator's environment: secrets of what it may start are read there. */
  readonly readVariable: Context["readVariable"];
}

/** How the components are built; `warn` takes a line for the operator. */
export interface SpawnablesOptions extends Pick<BuildRequest, "interrupt" | "onMismatch"> {
  warn(line: string): void;
}

/**
 * What a run may delegate to, itself and by those it delegates to: loaded as the lock has it, and built for every memory
 * that a guest of it may be given. All of it is held in the cache until this is disposed of.
 */
export class Spawnables implements Disposable {
  readonly #found = new Map<string, Spawnable | Unspawnable>();
  readonly #held: Disposable[] = [];

  static async open(record: SpawningRecord, options: SpawnablesOptions): Promise<Spawnables> {
    const spawnables = new Spawnables();
    try {
      await spawnables.#collect(record, options);
      return spawnables;
    } catch (error) {
      spawnables[Symbol.dispose]();
      throw error;
    }
  }

  /** Folders of the capsules. */
  get folders(): readonly string[] {
    return [...this.#found.values()].flatMap((found) => "refused" in found ? [] : [found.capsule.root]);
  }

  /** Models that agents among them have of their own. */
  get models(): readonly Intelligence[] {
    return [...this.#found.values()].flatMap((found) => "refused" in found ? [] : found.intelligence ?? []);
  }

  find(name: string): Spawnable | Unspawnable {
    return this.#found.get(name) ?? notInstalled(name);
  }

  [Symbol.dispose](): void {
    for (const held of this.#held.splice(0)) held[Symbol.dispose]();
  }

  async #collect(record: SpawningRecord, options: SpawnablesOptions): Promise<void> {
    const { resolved: { grants: { grants } }, lock } = record;
    if (lock === undefined) return;
    const locked = new Map<string, LockedCapsule>();
    for (const name of grants.spawn) {
      const found = await this.#load(lock, name, options);
      if (found !== undefined) locked.set(name, found);
    }
    const memories = memoriesOf(locked, grants.spawn, grants.limits.memory_mb);
    for (const [name, found] of locked) {
      try {
        const spawnable = isLockedAgent(found)
          ? await this.#buildAgent(found, record, memories.get(name) ?? [], options)
          : await this.#buildCommand(found, record, memories.get(name) ?? [], options);
        this.#found.set(name, spawnable);
      } catch (error) {
        if (options.interrupt?.aborted || errorCodeOf(error) === undefined) throw error;
        const isModel = errorCodeOf(error) === "secret.unusable" || errorCodeOf(error) === "grant.exceeds_ceiling";
        this.#refuse(name, isModel ? "its model cannot be used" : "its component cannot be used", error, options);
      }
    }
  }

  async #buildCommand(
    { capsule, digests, manifest }: LockedCommand,
    { resolved: { home }, kernel }: SpawningRecord,
    memories: Iterable<number>,
    options: SpawnablesOptions,
  ): Promise<Spawnable> {
    const built = new Map<number, BuiltCapsule>();
    for (const memoryMb of memories) {
      const held = await holdComponent(() =>
        ensureComponent({
          cacheRoot: home.cache,
          componentPath: capsule.componentPath,
          digest: digests.component,
          memoryMb,
          hull: kernel.landlock && kernel.seccomp,
          ...options,
        })
      );
      this.#held.push(held);
      if (findRunName(held.component.description.exports) === undefined) {
        throw new CapsuleError("component.no_run_export", `Delegate to ${capsule.name}: it is no command`);
      }
      built.set(memoryMb, { component: held.component });
    }
    return { capsule, manifest, digest: digests.capsule, built: (memoryMb) => built.get(memoryMb) };
  }

  async #buildAgent(
    { capsule, digests, manifest }: LockedAgent,
    { resolved: { home, workspaces }, kernel, readVariable }: SpawningRecord,
    memories: Iterable<number>,
    options: SpawnablesOptions,
  ): Promise<Spawnable> {
    const model = resolveModel({ capsule, flags: {}, workspaces });
    const own = model.grant === undefined ? {} : {
      intelligence: readIntelligence({ ...model, grant: model.grant }, readVariable),
    };
    const built = new Map<number, BuiltCapsule>();
    for (const memory_mb of memories) {
      const held = await buildTools({
        capsule,
        digests,
        limits: { memory_mb },
        cacheRoot: home.cache,
        hull: kernel.landlock && kernel.seccomp,
        ...options,
      });
      this.#held.push(held);
      built.set(memory_mb, { tools: held.tools });
    }
    return { capsule, manifest, digest: digests.capsule, built: (memoryMb) => built.get(memoryMb), ...own };
  }

  async #load(lock: Lock, name: string, options: SpawnablesOptions): Promise<LockedCapsule | undefined> {
    try {
      return await loadLocked(lock, name);
    } catch (error) {
      const code = errorCodeOf(error);
      if (code === undefined) throw error;
      if (code === "capsule.not_installed") {
        options.warn((error as Error).message);
        this.#found.set(name, notInstalled(name));
      } else {
        const why = code === "capsule.changed"
          ? "digest changed, its files are not those that boll.lock has"
          : "what boll.lock has of it cannot be used";
        this.#refuse(name, why, error, options);
      }
      return undefined;
    }
  }

  /** The operator reads where and how, the guest that asks reads what. */
  #refuse(name: string, why: string, error: unknown, { warn }: SpawnablesOptions): void {
    warn((error as Error).message);
    this.#found.set(name, { refused: `Delegate to ${name}: ${why}` });
  }
}

function notInstalled(name: string): Unspawnable {
  return { refused: `Delegate to ${printableLine(name, 80)}: not installed, boll.lock does not have it` };
}

/**
 * For each capsule the memories that its guests may be given: what its manifest says, else the default or its parent's,
 * whichever is less (the same as `fitGrants`); what is more than its parent's is refused before it starts.
 */
function memoriesOf(
  locked: ReadonlyMap<string, LockedCapsule>,
  spawn: readonly string[],
  memoryMb: number,
): Map<string, Set<number>> {
  const memories = new Map<string, Set<number>>();
  const pending = [{ spawn, memoryMb }];
  for (let parent = pending.pop(); parent !== undefined; parent = pending.pop()) {
    for (const name of parent.spawn) {
      const { grants } = locked.get(name)?.manifest ?? {};
      if (grants === undefined) continue;
      const own = grants.limits?.memory_mb ?? Math.min(DEFAULT_LIMITS.memory_mb, parent.memoryMb);
      const known = memories.get(name) ?? new Set<number>();
      if (own > parent.memoryMb || known.has(own)) continue;
      memories.set(name, known.add(own));
      pending.push({ spawn: grants.spawn ?? [], memoryMb: own });
    }
  }
  return memories;
}
