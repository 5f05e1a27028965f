import { CapsuleError, type ErrorCode, errorCodeOf, newId, printableLine } from "../base/mod.ts";
import { checkImports, type Grants, refuseImports } from "../grants/mod.ts";
import { SESSION_CEILINGS, type SessionLimits } from "../protocol/control/mod.ts";
import { decodeDelegateCall, type DelegateCall, type DelegateRefusal, Fields } from "../protocol/mod.ts";
import type { Completion, SessionPaths } from "../records/mod.ts";
import {
  type ChildEnded,
  type ChildLauncher,
  type ChildStarted,
  DELEGATION_TOOLS,
  type PreparedSession,
  prepareSession,
  recordEnding,
  type SessionRequest,
} from "../session/mod.ts";
import {
  type ChildEnding,
  type EndReason,
  OWN_PLACE,
  type ProcessWatch,
  type SessionChild,
  type Slot,
  Supervisor,
  type SupervisorOptions,
  type ToolOutcome,
  type ToolRequest,
} from "../supervisor/tree/mod.ts";
import { decideCompletion, ENDED_BY_PARENT, type Launched } from "./decide_completion.ts";
import { DelegationIds } from "./delegation_ids.ts";
import { type Authority, fitChild } from "./fit_child.ts";
import { handOver } from "./hand_over.ts";
import { readAnswer } from "./read_answer.ts";
import { settleDelegation } from "./settle_delegation.ts";
import { checkUnchanged, type Spawnable, type Unspawnable } from "./spawnable.ts";

/** The session of the launcher's own process: what it may do bounds all that is below it. */
export interface RootSession {
  readonly places: Pick<SessionPaths, "id" | "runtime">;
  readonly grants: Grants;
  readonly envValues: Readonly<Record<string, string>>;
  /** What it has left of its deadline. */
  remainingMs(): number;
}

/** What a launcher stands on. */
export interface LauncherOptions extends Pick<SessionRequest, "home" | "runtime" | "boll_version" | "upstream"> {
  readonly root: RootSession;
  /** What stands for a name of `grants.spawn`. */
  find(name: string): Spawnable | Unspawnable;
  /** What a child's cell will be contained by. */
  containmentOf(grants: Grants): SessionRequest["containment"];
  /** A session has its places, and starts. */
  onStart?(places: SessionPaths): void;
  /** It is reaped and recorded. */
  onEnd?(places: SessionPaths): void;
  /** One line for the operator. */
  warn(line: string): void;
  readonly processes?: ProcessWatch;
  readonly supervision?: Pick<SupervisorOptions, "admission" | "timings" | "drain">;
}

/** A session of the tree that may delegate: the root, or a child at work. */
interface Parent {
  readonly sessionId: string;
  readonly contextId: string;
  readonly runtime: string;
  readonly authority: Authority;
  readonly envValues: Readonly<Record<string, string>>;
  remainingMs(): number;
  /** Ends that it has not heard of. */
  readonly ends: Map<string, Promise<ChildEnded>>;
}

/** A child that was prepared. */
interface Launch {
  readonly launched: Launched;
  readonly parent: Parent;
  readonly prepared: PreparedSession;
  completion?: Completion;
}

/** A command has no model: it takes one token, so that every session counts in the tree's budget, and gives it back. */
const COMMAND_TOKENS = 1;
const TREE_TOKENS = 1_000;

/** Failures in the launcher's own words, which name nothing of the host's. */
const REFUSALS: readonly ErrorCode[] = ["grant.exceeds_ceiling", "capsule.changed", "capsule.not_installed"];

/** How long what has ended may take to be read and handed over when the tree ends, ms. */
const CLOSING_MS = 5_000;

const BY_PARENT: EndReason = { status: "cancelled", ended_by: "terminated", detail: ENDED_BY_PARENT };
const AT_DEADLINE: EndReason = { status: "deadline", ended_by: "deadline", detail: "the delegation's deadline passed" };

/**
 * The launcher of one tree (delegation page): a call and its caller's authority in, a narrower session and its recorded
 * ending out. Who calls is known from its place in the tree and never from what it says. Disposing ends all that lives.
 */
export class Launcher implements AsyncDisposable {
  readonly supervisor: Supervisor;
  readonly #options: LauncherOptions;
  readonly #ids = new DelegationIds();
  readonly #parents = new Map<string, Parent>();
  readonly #launches = new Map<string, Launch>();
  readonly #closing = new Set<Promise<unknown>>();

  constructor(options: LauncherOptions) {
    const { root, processes, supervision } = options;
    this.#options = options;
    const limits = rootLimits(root.grants);
    this.supervisor = new Supervisor({
      ...supervision,
      own: { maxDepth: limits.max_depth },
      treeTokens: TREE_TOKENS,
      ports: {
        record: (ending) => this.#record(ending),
        callTool: (child, request) => this.#callTool(child, request),
        ...(processes === undefined ? {} : { processes }),
      },
    });
    this.#parents.set(OWN_PLACE, {
      sessionId: root.places.id,
      contextId: newId("ctx"),
      runtime: root.places.runtime,
      authority: { grants: root.grants, limits, depth: 0 },
      envValues: root.envValues,
      remainingMs: () => root.remainingMs(),
      ends: new Map(),
    });
  }

  /** The launcher as the session at that place sees it. */
  at(path: string): ChildLauncher {
    return {
      start: (call) => Promise.resolve(this.#start(path, call)),
      ended: (delegationId) => this.#ended(path, delegationId),
    };
  }

  /** Ends every session below the root, deepest first, and records it; nothing is started any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.supervisor.drain(BY_PARENT);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise((resolve) => timer = setTimeout(resolve, CLOSING_MS));
    await Promise.race([Promise.allSettled(this.#closing), late]);
    clearTimeout(timer);
    await this.supervisor[Symbol.asyncDispose]();
  }

  #start(path: string, call: DelegateCall): ChildStarted | DelegateRefusal {
    try {
      return this.#launch(path, call);
    } catch (error) {
      if (errorCodeOf(error) === undefined) throw error;
      const { code, message, problems } = error as CapsuleError;
      const name = printableLine(call.capsule, 80);
      if (code === "grant.import_not_granted") {
        return { kind: "refused", message: `Delegate to ${name}: ${problems.join("; ")}` };
      }
      if (REFUSALS.includes(code)) return { kind: "refused", message };
      // It may name a place of the host's, which is the operator's to know.
      this.#options.warn(`Delegate to ${name}: ${message}`);
      return { kind: "failed", message: `Delegate to ${name}: it could not be started` };
    }
  }

  #launch(path: string, call: DelegateCall): ChildStarted | DelegateRefusal {
    const parent = this.#parents.get(path);
    if (parent === undefined) return { kind: "refused", message: "Delegate: the session that asks has ended" };
    const spawnable = this.#find(parent, call);
    const authority = narrowFor(parent, call, spawnable);
    const component = spawnable.component(authority.grants.limits.memory_mb);
    if (component === undefined) throw new CapsuleError("component.cache_mismatch", "its component is not built");
    const missing = checkImports(component.description.imports, authority.grants, spawnable.manifest);
    if (missing.length > 0) throw refuseImports(missing);
    let launch: Launch | undefined;
    let failure: unknown;
    const child = this.supervisor.spawn({
      parent: path,
      limits: authority.limits,
      role: "command",
      reserveTokens: COMMAND_TOKENS,
      prepare: (slot) => {
        try {
          checkUnchanged(spawnable);
          launch = this.#prepare({ slot, parent, spawnable, component, authority, task: call.task });
          return launch.prepared.launch;
        } catch (error) {
          failure = error;
          throw error;
        }
      },
    });
    if (child.kind === "refused") return { kind: "refused", message: `${child.message} (${child.gate})` };
    if (launch === undefined) throw failure;
    return this.#watch(child, launch, authority.limits.deadline_ms);
  }

  #find(parent: Parent, { capsule, version }: DelegateCall): Spawnable {
    // A name that it may not delegate to is no more than that, also when there is such a capsule.
    const found = parent.authority.grants.spawn.includes(capsule) ? this.#options.find(capsule) : undefined;
    if (found === undefined) {
      fitChild({ capsule, declared: {} }, { ...parent.authority, remainingMs: parent.remainingMs() });
      throw new TypeError("a capsule that is not in spawn fits");
    }
    if ("refused" in found) throw new CapsuleError("capsule.not_installed", found.refused);
    if (version !== undefined && version !== found.manifest.version) {
      throw new CapsuleError(
        "capsule.not_installed",
        `Delegate to ${capsule}@${
          printableLine(version, 80)
        }: not installed, boll.lock has version ${found.manifest.version}`,
      );
    }
    return found;
  }

  /** Everything that a start makes, before there is a process. @throws `home.unwritable`, `runtime.unusable`, … */
  #prepare({ slot, parent, spawnable, component, authority, task }: {
    readonly slot: Slot;
    readonly parent: Parent;
    readonly spawnable: Spawnable;
    readonly component: SessionRequest["component"];
    readonly authority: Authority;
    readonly task: string;
  }): Launch {
    const { home, runtime, boll_version, upstream, containmentOf, root, onStart } = this.#options;
    const { capsule, manifest, digest } = spawnable;
    const { grants, limits } = authority;
    const delegation_id = this.#ids.mint();
    const envValues = Object.fromEntries(
      Object.entries(parent.envValues).filter(([name]) => grants.env.includes(name)),
    );
    const prepared = prepareSession({
      home,
      ...(runtime === undefined ? {} : { runtime }),
      boll_version,
      capsule: {
        name: capsule.name,
        kind: "folder",
        path: capsule.manifestPath ?? capsule.root,
        digest,
        version: manifest.version,
      },
      component,
      grants,
      envValues,
      containment: containmentOf(grants),
      ...(upstream === undefined ? {} : { upstream }),
      spawner: { session_id: parent.sessionId, context_id: parent.contextId, delegation_id },
      task: {
        instruction: task,
        context_seed: [],
        mcp_servers: [],
        a2a_peers: [],
        gated_tools: [],
        limits,
        telemetry: {
          run_id: root.places.id,
          agent_id: capsule.name,
          agent_path: slot.path,
          log_level: "info",
          log_content: manifest.trace.capture === "content",
        },
        depth: slot.depth,
        warm: false,
        role: "command",
        args: manifest.args ?? [],
      },
    });
    const { places } = prepared;
    const startedMs = performance.now();
    this.#parents.set(slot.path, {
      sessionId: places.id,
      contextId: newId("ctx"),
      runtime: places.runtime,
      authority,
      envValues,
      remainingMs: () => limits.deadline_ms - (performance.now() - startedMs),
      ends: new Map(),
    });
    const launched: Launched = {
      delegation_id,
      session_id: places.id,
      capsule_name: capsule.name,
      capsule_version: manifest.version,
      workdir: places.work,
    };
    const launch = { launched, parent, prepared };
    this.#launches.set(slot.path, launch);
    onStart?.(places);
    return launch;
  }

  #watch(child: SessionChild, launch: Launch, deadlineMs: number): ChildStarted {
    const { delegation_id, session_id, capsule_name, capsule_version } = launch.launched;
    const timer = setTimeout(() => this.supervisor.stop(child.path, AT_DEADLINE), deadlineMs);
    const end = child.ended.then((ending) => {
      clearTimeout(timer);
      return this.#close(ending, launch);
    });
    launch.parent.ends.set(delegation_id, end);
    this.#closing.add(end);
    end.catch(() => {}).finally(() => this.#closing.delete(end));
    return { delegation_id, session_id, capsule: capsule_name, version: capsule_version, deadline_ms: deadlineMs };
  }

  /** The record port: whoever waits is told after it, and it posts to nobody that could hold it up. */
  async #record(ending: ChildEnding): Promise<void> {
    const launch = this.#launches.get(ending.path);
    if (launch === undefined) return;
    const { launched, prepared: { places }, parent: { sessionId, contextId } } = launch;
    try {
      recordEnding(places, ending);
    } catch (error) {
      this.#options.warn((error as Error).message);
    }
    const spawner = { session_id: sessionId, context_id: contextId, delegation_id: launched.delegation_id };
    launch.completion = await settleDelegation(ending, { launched, places, spawner, warn: this.#options.warn });
  }

  /** What is left when a child is reaped and its ending recorded: its answer, and its places. */
  async #close(ending: ChildEnding, { launched, parent, prepared, completion }: Launch): Promise<ChildEnded> {
    const { places } = prepared;
    // There is none where none could be written; what it would say is known all the same.
    const ended = completion ?? decideCompletion(launched, { ending });
    const { delegation_id: delegationId } = launched;
    try {
      const answer = await readAnswer(
        { records: places.records, work: places.work },
        { runtime: parent.runtime, delegationId, minted: this.#ids },
      );
      for (const path of answer.refused) this.#options.warn(`Read the answer of ${places.id}: refused ${path}`);
      const { status, duration_ms } = ended;
      return { text: handOver([{ ended, answer }]), status, duration_ms };
    } finally {
      this.#parents.delete(ending.path);
      this.#launches.delete(ending.path);
      this.#options.onEnd?.(places);
      prepared[Symbol.dispose]();
    }
  }

  async #ended(path: string, delegationId: string): Promise<ChildEnded> {
    const { ends } = this.#parents.get(path) ?? {};
    const end = ends?.get(delegationId);
    if (end === undefined) {
      throw new CapsuleError("tree.not_running", "Wait for a delegation: this session has none of that id");
    }
    try {
      return await end;
    } finally {
      ends?.delete(delegationId);
    }
  }

  /** What a session process asks for; it is the child that the frames came from. */
  async #callTool({ path }: SessionChild, { name, args }: ToolRequest): Promise<ToolOutcome> {
    switch (name) {
      case DELEGATION_TOOLS.start: {
        const answer = this.#start(path, decodeDelegateCall(new Fields(args, "args")));
        return { result: answer, is_error: "kind" in answer };
      }
      case DELEGATION_TOOLS.ended: {
        const delegationId = new Fields(args, "args").string("delegation_id", { max: 64 });
        return { result: await this.#ended(path, delegationId), is_error: false };
      }
      default:
        return { result: `there is no tool ${printableLine(name, 80)} here`, is_error: true };
    }
  }
}

/** A run in the foreground has the most that any session may have, within its own deadline. */
function rootLimits({ limits }: Grants): SessionLimits {
  return {
    max_steps: 1,
    max_tokens: COMMAND_TOKENS,
    deadline_ms: Math.min(limits.deadline_ms, SESSION_CEILINGS.deadline_ms),
    max_depth: SESSION_CEILINGS.max_depth,
  };
}

/** @throws {CapsuleError} `grant.exceeds_ceiling` */
function narrowFor(parent: Parent, call: DelegateCall, { capsule, manifest }: Spawnable): Authority {
  const mounts = new Map(call.mounts);
  if (mounts.size < call.mounts.length) {
    throw new CapsuleError(
      "grant.exceeds_ceiling",
      `Delegate to ${capsule.name}: fs.mounts: two folders are named for one of its mounts, name one`,
    );
  }
  const remainingMs = Math.floor(Math.min(parent.remainingMs(), parent.authority.limits.deadline_ms));
  const authority = fitChild({
    capsule: capsule.name,
    declared: manifest.grants,
    mounts: Object.fromEntries(mounts),
  }, { ...parent.authority, remainingMs });
  const deadline_ms = Math.min(authority.limits.deadline_ms, call.deadline_ms ?? Infinity);
  return { ...authority, limits: { ...authority.limits, deadline_ms } };
}
