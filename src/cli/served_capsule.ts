import { CapsuleError, exitCodeOf, newId, printableJson, printableLine } from "../base/mod.ts";
import { Launcher } from "../delegation/mod.ts";
import { achievedContainment, type Grants } from "../grants/mod.ts";
import { PinnedFolder, probeHull } from "../hull/mod.ts";
import { capsulePath } from "../manifest/mod.ts";
import { type DoorSpec, SESSION_CEILINGS, type SessionLimits } from "../protocol/control/mod.ts";
import type { TreeAction } from "../protocol/tree/mod.ts";
import { DoorFolder, hashToken, ownService, runtimeFolder, type SessionPlaces } from "../records/mod.ts";
import {
  collectOrphans,
  commandTask,
  freePort,
  isCompiled,
  openHull,
  type PreparedSession,
  prepareSession,
  treeRules,
} from "../session/mod.ts";
import type { ChildEnding, Notice, SessionChild, Slot } from "../supervisor/tree/mod.ts";
import { BUILD_INFO } from "./build_info.ts";
import { onAbort, openProcesses } from "./delegating_run.ts";
import { type HeldComponent, holdComponent } from "./held_component.ts";
import { guestArguments, type Interrupts } from "./launch.ts";
import { prepareComponent } from "./prepare_component.ts";
import type { ServeFlags } from "./serve.ts";
import type { Agreed, SessionRecord } from "./session_record.ts";
import { Spawnables } from "./spawnables.ts";
import { TreePointers } from "./tree_pointers.ts";

/** A capsule that its operator agreed to serve, and how. */
export interface Serving extends Omit<Agreed, "guestArgs">, Pick<SessionRecord, "containment" | "kernel"> {
  readonly flags: ServeFlags;
  readonly interrupts: Interrupts;
}

/** How serving ended, for whoever started it. */
export interface ServedEnding {
  readonly session_id: string;
  readonly status: string;
  readonly exit_code: number;
  readonly ended_by: string;
  readonly detail?: string;
}

/** What of an ending counts here. */
type Judged = Pick<ChildEnding, "session_id" | "status" | "ended_by" | "detail"> & Partial<Pick<ChildEnding, "exit">>;

/** It was told to end while its session was about to be started again. */
const BETWEEN_SESSIONS: Judged = { session_id: "", status: "completed", ended_by: "terminated" };

/** How long everything below may take to end after the first signal, ms (control protocol §5). */
const DRAIN_MS = 28_000;

/** Tasks that may wait when nobody says. */
const DEFAULT_QUEUE = 256;

/** A command has no model. */
const COMMAND_STEPS = { max_steps: 1, max_tokens: 1 } as const;

/**
 * One served capsule: this process is the supervisor of a tree whose root is a warm session with a door. It listens on
 * nothing but its control socket, and runs no guest.
 */
export class ServedCapsule {
  readonly #serving: Serving;
  readonly #component: HeldComponent["component"];
  readonly #service: DoorFolder | undefined;
  readonly #grants: Grants;
  readonly #pointers = new TreePointers();
  readonly #port: number;
  readonly #runId: string = newId("req");
  #launcher: Launcher | undefined;
  #child: SessionChild | undefined;
  #places: SessionPlaces | undefined;
  #door: DoorFolder | undefined;
  #turnStartedMs: number | undefined;
  #isDraining = false;
  #openings = 0;
  readonly #ended = Promise.withResolvers<Judged>();

  private constructor(serving: Serving, component: HeldComponent["component"], service: DoorFolder | undefined) {
    this.#serving = serving;
    this.#component = component;
    this.#service = service;
    const { grants } = serving.resolved.grants;
    const deadline_ms = Math.min(grants.limits.deadline_ms, SESSION_CEILINGS.deadline_ms);
    this.#grants = { ...grants, limits: { ...grants.limits, deadline_ms } };
    this.#port = choosePort(serving.flags, service);
  }

  /**
   * Serves until it is interrupted, stopped, or its session has ended for good.
   * @throws `component.*`, `lock.*`, `hull.*`, `service.running`, `service.listen_failed`, `home.unwritable`
   */
  static async run(serving: Serving): Promise<ServedEnding> {
    const { resolved, digests, context, flags, kernel, interrupts } = serving;
    using service = flags.name === undefined ? undefined : ownService(resolved.home, flags.name);
    const hull = openHull();
    using _orphans = collectOrphans();
    using held = await holdComponent(() =>
      prepareComponent(resolved, digests.component, kernel.landlock && kernel.seccomp, context, {
        interrupt: interrupts.first,
      })
    );
    using spawnables = await openSpawnables(serving);
    const served = new ServedCapsule(serving, held.component, service?.folder);
    return await served.#run(hull, spawnables);
  }

  async #run(hull: ReturnType<typeof openHull>, spawnables: Spawnables | undefined): Promise<ServedEnding> {
    const { interrupts } = this.#serving;
    const processes = openProcesses();
    // After the supervisor, which looks for lost processes to its end.
    using _processes = { [Symbol.dispose]: () => processes?.close() };
    await using launcher = this.#openLauncher(spawnables, processes);
    this.#launcher = launcher;
    await using _pointers = this.#pointers;
    this.#pointers.open({ list: () => launcher.supervisor.list(), act: (action, path) => this.#act(action, path) });
    hull?.confine(this.#rules(spawnables));
    try {
      this.#start(launcher);
      onAbort(interrupts.first, () => this.#drain());
      onAbort(interrupts.second, () => launcher.supervisor.killNow());
      return this.#judge(await this.#ended.promise);
    } finally {
      this.#door?.writeOpen(undefined);
    }
  }

  #openLauncher(spawnables: Spawnables | undefined, processes: ReturnType<typeof openProcesses>): Launcher {
    const { resolved: { home, upstream }, context } = this.#serving;
    const probe = probeHull();
    return new Launcher({
      home,
      runtime: runtimeFolder(context.readVariable),
      boll_version: BUILD_INFO.version,
      runId: this.#runId,
      upstream,
      find: (name) => spawnables?.find(name) ?? { refused: `Delegate to ${printableLine(name, 80)}: not installed` },
      containmentOf: ({ net, containment }: Grants) => ({
        ...(containment === undefined ? {} : { declared: containment }),
        ...achievedContainment(probe, { compiled: isCompiled, net }),
      }),
      onStart: (places) => this.#pointers.add(places),
      onEnd: (places) => this.#pointers.remove(places),
      onNotice: (notice) => this.#hear(notice),
      onRestarted: (child) => this.#watch(child),
      warn: (line) => this.#warn(line),
      ...(processes === undefined ? {} : { processes, openFolder: PinnedFolder.open }),
    });
  }

  #rules(spawnables: Spawnables | undefined): ReturnType<typeof treeRules> {
    const { resolved, context } = this.#serving;
    const { home, capsule, upstream, grants: { work } } = resolved;
    return treeRules(this.#grants, {
      cache: home.cache,
      sessions: home.sessions,
      runtime: runtimeFolder(context.readVariable),
      read: [
        ...[capsule.kind === "bare" ? capsule.componentPath : capsule.root, ...spawnables?.folders ?? []],
        // A supervisor sees its processes in /proc.
        "/proc",
        ...(upstream.ca === undefined ? [] : [upstream.ca]),
      ],
      write: this.#service === undefined ? [] : [this.#service.path],
      doorPort: this.#port,
      ...(work === undefined ? {} : { work }),
    });
  }

  #start(launcher: Launcher): void {
    const limits: SessionLimits = {
      ...COMMAND_STEPS,
      deadline_ms: this.#grants.limits.deadline_ms,
      max_depth: SESSION_CEILINGS.max_depth,
    };
    const started = launcher.startRoot({
      limits,
      warm: true,
      hasDoor: true,
      // Without a name its tasks end with it: a new session would know nothing of them.
      restarts: this.#service !== undefined && this.#accept === "queue",
      grants: this.#grants,
      envValues: this.#serving.resolved.grants.envValues,
      prepare: (slot) => this.#prepare(slot, limits),
      remainingMs: () => limits.deadline_ms - (performance.now() - (this.#turnStartedMs ?? performance.now())),
    });
    if (started.kind === "refused") throw new CapsuleError("internal", `Start a session: ${started.message}`);
    this.#watch(started);
  }

  /** Whoever says how many may wait wants more than one. */
  get #accept(): DoorSpec["accept"] {
    const { flags, resolved: { capsule } } = this.#serving;
    return capsule.manifest?.lifecycle?.accept === "single" && flags.queueDepth === undefined ? "single" : "queue";
  }

  #prepare(slot: Slot, limits: SessionLimits): PreparedSession {
    const { resolved, digests, args, containment } = this.#serving;
    const { capsule, home, upstream, grants: { envValues, work } } = resolved;
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
      component: this.#component,
      grants: this.#grants,
      envValues,
      containment,
      upstream,
      door: (places) => this.#specify(places),
      ...(work === undefined ? {} : { work }),
      task: commandTask({
        name: capsule.name,
        path: slot.path,
        depth: slot.depth,
        runId: this.#runId,
        logContent: capsule.manifest?.trace.capture === "content",
        limits,
        warm: true,
      }, guestArguments(resolved, args)),
    });
    this.#places = prepared.places;
    return prepared;
  }

  /** The door of a session that has its places; the token is the owner's to read, and no part of it. */
  #specify(places: SessionPlaces): DoorSpec {
    const { flags: { hostname, open, names, queueDepth }, resolved } = this.#serving;
    const { queue_depth, input_timeout_ms, idempotent = false } = resolved.capsule.manifest?.lifecycle ?? {};
    const folder = this.#service ?? new DoorFolder(`${places.records}/door`);
    folder.make();
    this.#door = folder;
    return {
      hostname,
      port: this.#port,
      open,
      names,
      accept: this.#accept,
      queue_depth: queueDepth ?? queue_depth ?? DEFAULT_QUEUE,
      idempotent,
      ...(input_timeout_ms === undefined ? {} : { input_timeout_ms }),
      token_hash: hashToken(folder.ownToken()),
      peers: folder.peers(),
      ...(this.#service === undefined ? {} : { service: { folder: folder.path } }),
    };
  }

  #watch(child: SessionChild): void {
    this.#child = child;
    this.#turnStartedMs = undefined;
    child.ended.then((ending) => {
      this.#door?.writeOpen(undefined);
      if (this.#service === undefined) this.#door?.forgetToken();
      if (ending.restart?.kind === "restart" && !this.#isDraining) {
        const why = ending.detail === undefined ? "" : ` (${printableLine(ending.detail, 300)})`;
        return this.#warn(`the session ${ending.session_id} ended as ${ending.status}${why}; it is started again`);
      }
      this.#ended.resolve(ending);
    });
  }

  #hear(notice: Notice): void {
    if (notice.kind === "turn") this.#turnStartedMs = undefined;
    if (notice.kind !== "event") return;
    if (notice.event === "turn.start") this.#turnStartedMs = performance.now();
    const { url } = notice.fields;
    if (notice.event === "door.open" && typeof url === "string") this.#announce(url);
  }

  #announce(url: string): void {
    const { args, context, flags, resolved } = this.#serving;
    const session_id = this.#places?.id ?? "";
    const port = Number(new URL(url).port);
    this.#door?.writeOpen({ url, session_id });
    if (this.#service !== undefined) this.#door?.writePort(port);
    const name = flags.name === undefined ? {} : { name: flags.name };
    if (args.has("json")) {
      const token = flags.open ? {} : { token: this.#door?.readToken() };
      context.stdout.write(`${printableJson({ serving: url, session_id, pid: Deno.pid, ...name, ...token })}\n`);
    } else if (this.#openings === 0 || !args.has("quiet")) {
      const who = flags.name === undefined ? printableLine(resolved.capsule.name, 80) : flags.name;
      context.stderr.write(`boll: serving ${who} at ${printableLine(url, 200)} (${session_id})\n`);
      if (this.#openings === 0 && !flags.open && !args.has("quiet")) {
        context.stderr.write(`boll: its token: \`boll token ${flags.name ?? session_id}\`\n`);
      }
    }
    this.#openings++;
  }

  /** As signals do: the first stop asks for a drain, the second for an end at once. */
  #act(action: TreeAction, path: string): void {
    const { supervisor } = this.#launcher!;
    if (action !== "stop" || path !== this.#child?.path) return supervisor.act(action, path);
    if (this.#isDraining) supervisor.killNow();
    else this.#drain();
  }

  #drain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    const { supervisor } = this.#launcher!;
    const child = this.#child;
    if (child === undefined || child.isOver) {
      // It waits for its restart, which is called off.
      supervisor.stop(child?.path ?? "0").then(() => this.#ended.resolve(BETWEEN_SESSIONS));
      return;
    }
    child.close();
    const late = setTimeout(() => supervisor.killNow(), DRAIN_MS);
    this.#ended.promise.then(() => clearTimeout(late));
  }

  #judge({ session_id, status, ended_by, detail, exit }: Judged): ServedEnding {
    // The one task's program has a word of its own.
    const own = this.#accept === "single" && ended_by === "guest" ? exit?.code : undefined;
    return {
      session_id,
      status,
      exit_code: own ?? exitCodeOf(status, ended_by),
      ended_by,
      ...(detail === undefined ? {} : { detail }),
    };
  }

  #warn(line: string): void {
    const { args, context } = this.#serving;
    if (!args.has("quiet")) context.stderr.write(`boll: warning: ${printableLine(line, 2_000)}\n`);
  }
}

/** What may be delegated to, as `boll.lock` has it; absent for who delegates to nobody. */
async function openSpawnables(
  { resolved, kernel, lock, interrupts, args, context }: Serving,
): Promise<Spawnables | undefined> {
  if (resolved.grants.grants.spawn.length === 0) return undefined;
  return await Spawnables.open({ resolved, kernel, lock, readVariable: context.readVariable }, {
    interrupt: interrupts.first,
    warn: (line) => {
      if (!args.has("quiet")) context.stderr.write(`boll: warning: ${printableLine(line, 2_000)}\n`);
    },
  });
}

/** The port that was asked for; a service keeps its own while nobody else has it, so that its address stays. */
function choosePort({ port, hostname }: ServeFlags, service: DoorFolder | undefined): number {
  if (port !== undefined) return port;
  const last = service?.readPort();
  const found = (last === undefined ? undefined : freePort(hostname, last)) ?? freePort(hostname);
  if (found !== undefined) return found;
  throw new CapsuleError("service.listen_failed", `Listen on ${hostname}: no port can be had there; see --bind`);
}
