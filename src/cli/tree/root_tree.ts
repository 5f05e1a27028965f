import { CapsuleError, newId, printableLine } from "../../base/mod.ts";
import { Launcher } from "../../delegation/mod.ts";
import { achievedContainment, type Grants } from "../../grants/mod.ts";
import { PinnedFolder, probeHull, type ProcessTree } from "../../hull/mod.ts";
import { capsulePath } from "../../manifest/mod.ts";
import type { DoorSpec } from "../../protocol/control/mod.ts";
import type { TreeAction } from "../../protocol/tree/mod.ts";
import { runtimeFolder, type SessionPlaces } from "../../records/mod.ts";
import {
  collectOrphans,
  isCompiled,
  modelPorts,
  openHull,
  type PreparedSession,
  prepareSession,
  treeRules,
} from "../../session/mod.ts";
import type { EndReason, Notice, SessionChild, Slot } from "../../supervisor/tree/mod.ts";
import { BUILD_INFO } from "../about/build_info.ts";
import { openProcesses } from "./delegating_run.ts";
import { openRootCapsule, type RootCapsule, type Starting } from "./root_capsule.ts";
import { Spawnables } from "./spawnables.ts";
import { TreePointers } from "./tree_pointers.ts";

/** What the root session of a tree is, and who hears of it. */
export interface RootTreeOptions {
  readonly starting: Starting;
  readonly warm?: boolean;
  /** Whether one that failed is started again. */
  readonly restarts?: boolean;
  readonly door?: {
    readonly port: number;
    /** Further places that it writes. */
    readonly write: readonly string[];
    specify(places: SessionPlaces): DoorSpec;
  };
  /** Somebody answers what it asks. */
  readonly interactive?: boolean;
  onNotice?(notice: Notice): void;
  onRestarted?(child: SessionChild): void;
  /** Whether it was done here: what is asked of the tree from outside. */
  act?(action: TreeAction, path: string): boolean;
}

/**
 * A tree whose root is a session of its own process: this process is its supervisor, and runs neither a guest nor a model
 * loop. Everything that may be started is checked and built before it confines itself; disposing of it ends all that lives.
 */
export class RootTree implements AsyncDisposable {
  readonly capsule: RootCapsule;
  readonly #options: RootTreeOptions;
  readonly #spawnables: Spawnables | undefined;
  readonly #launcher: Launcher;
  readonly #pointers = new TreePointers();
  readonly #runId: string = newId("req");
  readonly #stack: AsyncDisposableStack;
  #places: SessionPlaces | undefined;
  #turnStartedMs: number | undefined;

  private constructor(
    options: RootTreeOptions,
    { capsule, spawnables, processes, stack }: {
      readonly capsule: RootCapsule;
      readonly spawnables: Spawnables | undefined;
      readonly processes: ProcessTree | undefined;
      readonly stack: AsyncDisposableStack;
    },
  ) {
    this.#options = options;
    this.capsule = capsule;
    this.#spawnables = spawnables;
    this.#stack = stack;
    this.#launcher = stack.use(this.#openLauncher(processes));
    stack.use(this.#pointers);
  }

  /** @throws `component.*`, `grant.import_not_granted`, `secret.unusable`, `lock.*`, `hull.*` */
  static async open(options: RootTreeOptions): Promise<RootTree> {
    await using stack = new AsyncDisposableStack();
    const hull = openHull();
    stack.use(collectOrphans());
    const capsule = stack.use(await openRootCapsule(options.starting));
    const asked = options.starting.resolved.grants.grants.limits.deadline_ms;
    const given = capsule.limits.deadline_ms;
    if (asked > given) warn(options.starting, `A session has ${given} ms at most, not the deadline_ms of ${asked}`);
    const spawnables = await openSpawnables(options.starting);
    if (spawnables !== undefined) stack.use(spawnables);
    const processes = openProcesses();
    // After the supervisor, which looks for lost processes to its end.
    stack.defer(() => processes?.close());
    const tree = new RootTree(options, { capsule, spawnables, processes, stack: stack.move() });
    try {
      hull?.confine(tree.#rules());
      return tree;
    } catch (error) {
      await tree[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The places of the session that was started last. */
  get places(): SessionPlaces | undefined {
    return this.#places;
  }

  get supervisor(): Launcher["supervisor"] {
    return this.#launcher.supervisor;
  }

  /** Starts the root with its first message, and opens the way to ask for it. One with a door waits for its messages. */
  start(instruction?: string): SessionChild {
    const { warm = false, door, restarts = false } = this.#options;
    this.#pointers.open({
      list: () => this.supervisor.list(),
      act: (action, path) => {
        if (this.#options.act?.(action, path) !== true) this.supervisor.act(action, path);
      },
    });
    const { limits, grants, intelligence, peers } = this.capsule;
    if (!warm) this.#turnStartedMs = performance.now();
    const started = this.#launcher.startRoot({
      limits,
      warm,
      hasDoor: door !== undefined,
      restarts,
      ...(intelligence === undefined ? {} : { intelligence }),
      peers,
      grants,
      envValues: this.#options.starting.resolved.grants.envValues,
      prepare: (slot) => this.#prepare(slot, instruction),
      remainingMs: () => limits.deadline_ms - (performance.now() - (this.#turnStartedMs ?? performance.now())),
    });
    if (started.kind === "refused") throw new CapsuleError("internal", `Start a session: ${started.message}`);
    return started;
  }

  /** Ends everything, deepest first, and records it. */
  async end(reason: EndReason): Promise<void> {
    await this.#launcher.end(reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack[Symbol.asyncDispose]();
  }

  #prepare(slot: Slot, instruction: string | undefined): PreparedSession {
    const { starting: { resolved, digests, containment }, door, interactive = false, warm = false } = this.#options;
    const { capsule, home, upstream, grants: { envValues, work } } = resolved;
    this.#turnStartedMs = warm ? undefined : performance.now();
    const prepared = prepareSession({
      home,
      boll_version: BUILD_INFO.version,
      capsule: {
        name: capsule.name,
        kind: capsule.kind === "bare" ? "component" : "folder",
        path: capsulePath(capsule),
        digest: digests.capsule,
        ...(capsule.version === undefined ? {} : { version: capsule.version }),
      },
      ...this.capsule.parts,
      grants: this.capsule.grants,
      envValues,
      containment,
      upstream,
      ...(door === undefined ? {} : { door: (places) => door.specify(places) }),
      ...(work === undefined ? {} : { work }),
      task: {
        ...this.capsule.task({
          path: slot.path,
          depth: slot.depth,
          runId: this.#runId,
          warm,
          ...(instruction === undefined ? {} : { instruction }),
        }),
        ...(interactive ? { interactive } : {}),
      },
    });
    this.#places = prepared.places;
    return prepared;
  }

  #openLauncher(processes: ProcessTree | undefined): Launcher {
    const { starting: { resolved: { home, upstream }, context }, onRestarted } = this.#options;
    const probe = probeHull();
    const { intelligence, limits } = this.capsule;
    return new Launcher({
      home,
      runtime: runtimeFolder(context.readVariable),
      boll_version: BUILD_INFO.version,
      runId: this.#runId,
      upstream,
      ...(intelligence === undefined ? {} : { treeTokens: limits.max_tokens }),
      find: (name) =>
        this.#spawnables?.find(name) ?? { refused: `Delegate to ${printableLine(name, 80)}: not installed` },
      containmentOf: ({ net, containment }: Grants) => ({
        ...(containment === undefined ? {} : { declared: containment }),
        ...achievedContainment(probe, { compiled: isCompiled, net }),
      }),
      onStart: (places) => this.#pointers.add(places),
      onEnd: (places) => this.#pointers.remove(places),
      onNotice: (notice) => this.#hear(notice),
      ...(onRestarted === undefined ? {} : { onRestarted: (child: SessionChild) => onRestarted(child) }),
      warn: (line) => warn(this.#options.starting, line),
      ...(processes === undefined ? {} : { processes, openFolder: PinnedFolder.open }),
    });
  }

  /** The time in which it may delegate is that of its turn. */
  #hear(notice: Notice): void {
    if (notice.kind === "turn") this.#turnStartedMs = undefined;
    if (notice.kind === "event" && notice.event === "turn.start") this.#turnStartedMs = performance.now();
    this.#options.onNotice?.(notice);
  }

  #rules(): ReturnType<typeof treeRules> {
    const { starting: { resolved, context }, door } = this.#options;
    const { home, capsule, upstream, grants: { work } } = resolved;
    const { intelligence, grants } = this.capsule;
    const models = [...(intelligence === undefined ? [] : [intelligence]), ...this.#spawnables?.models ?? []];
    return treeRules(grants, {
      cache: home.cache,
      sessions: home.sessions,
      runtime: runtimeFolder(context.readVariable),
      read: [
        ...[capsule.kind === "bare" ? capsulePath(capsule) : capsule.root, ...this.#spawnables?.folders ?? []],
        // A supervisor sees its processes in /proc.
        "/proc",
        ...(upstream.ca === undefined ? [] : [upstream.ca]),
      ],
      write: door?.write ?? [],
      ports: models.flatMap((model) => modelPorts(model, upstream.proxy?.port)),
      ...(door === undefined ? {} : { doorPort: door.port }),
      ...(work === undefined ? {} : { work }),
    });
  }
}

/** One line for the operator, unless he wants none. */
export function warn({ args, context }: Pick<Starting, "args" | "context">, line: string): void {
  if (!args.has("quiet")) context.stderr.write(`boll: warning: ${printableLine(line, 2_000)}\n`);
}

/** What may be delegated to, as `boll.lock` has it; absent for who delegates to nobody. */
async function openSpawnables(starting: Starting): Promise<Spawnables | undefined> {
  const { resolved, kernel, lock, interrupts, context } = starting;
  if (resolved.grants.grants.spawn.length === 0) return undefined;
  return await Spawnables.open({ resolved, kernel, lock, readVariable: context.readVariable }, {
    interrupt: interrupts.first,
    warn: (line) => warn(starting, line),
  });
}
