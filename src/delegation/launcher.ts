import { CapsuleError, type ErrorCode, errorCodeOf, newId, printableLine } from "../base/mod.ts";
import { REASON_DEADLINE, SESSION_CEILINGS } from "../protocol/control/mod.ts";
import { decodeDelegateCall, type DelegateCall, type DelegateRefusal, Fields } from "../protocol/mod.ts";
import type { Completion } from "../records/mod.ts";
import {
  type ChildEnded,
  type ChildLauncher,
  type ChildStarted,
  DELEGATION_TOOLS,
  type PreparedSession,
  prepareSession,
  recordEnding,
} from "../session/mod.ts";
import {
  type ChildEnding,
  type EndReason,
  OWN_PLACE,
  type Refusal,
  type SessionChild,
  type Slot,
  Supervisor,
  type ToolOutcome,
  type ToolRequest,
} from "../supervisor/tree/mod.ts";
import { checkBuilt } from "./check_built.ts";
import { ChildEcho } from "./child_echo.ts";
import { decideCompletion, ENDED_BY_PARENT, type Launched } from "./ending/decide_completion.ts";
import { DelegationIds } from "./delegation_ids.ts";
import { COMMAND_TOKENS, delegableLimits, type DelegatingSession, rootLimits } from "./delegating_session.ts";
import { handOver } from "./ending/hand_over.ts";
import { findFor, intelligenceFor, narrowFor, peersFor } from "./judge_call.ts";
import type { LauncherOptions, RootRequest } from "./launcher_options.ts";
import { readAnswer } from "./ending/read_answer.ts";
import { type ChildStart, sessionRequest } from "./session_request.ts";
import { settleDelegation } from "./ending/settle_delegation.ts";
import { checkUnchanged } from "./spawnable.ts";
import { UnheardEnds } from "./ending/unheard_ends.ts";

/** A child that was prepared. */
interface Launch {
  readonly launched: Launched;
  readonly parent: DelegatingSession;
  readonly prepared: PreparedSession;
  readonly echo: ChildEcho;
  completion?: Completion;
}

/** One for each session that has no model of its own, or has not asked yet. */
const COMMANDS_TOKENS = 1_000;

/** Failures in the launcher's own words, which name nothing of the host's. */
const REFUSALS: readonly ErrorCode[] = ["grant.exceeds_ceiling", "capsule.changed", "capsule.not_installed"];

/** How long what has ended may take to be read and handed over when the tree ends, ms. */
const CLOSING_MS = 5_000;

const BY_PARENT: EndReason = { status: "cancelled", ended_by: "terminated", detail: ENDED_BY_PARENT };
const AT_DEADLINE: EndReason = { status: "deadline", ended_by: "deadline", detail: REASON_DEADLINE };

/**
 * The launcher of one tree (`docs/decisions/0019-the-launcher.md`): a call and its caller's authority in, a narrower
 * session and its recorded ending out. Who calls is known from its place in the tree and never from what it says.
 * Disposing ends all that lives.
 */
export class Launcher implements AsyncDisposable {
  readonly supervisor: Supervisor;
  readonly #options: LauncherOptions;
  readonly #ids = new DelegationIds();
  readonly #parents = new Map<string, DelegatingSession>();
  readonly #launches = new Map<string, Launch>();
  /** Sessions that nobody delegated to, by place. */
  readonly #roots = new Map<string, PreparedSession>();
  readonly #closing = new Set<Promise<unknown>>();

  constructor(options: LauncherOptions) {
    const { root, processes, supervision } = options;
    this.#options = options;
    const limits = root === undefined ? undefined : rootLimits(root.grants);
    this.supervisor = new Supervisor({
      ...supervision,
      ...(limits === undefined ? {} : { own: { maxDepth: limits.max_depth } }),
      treeTokens: (options.treeTokens ?? SESSION_CEILINGS.max_tokens) + COMMANDS_TOKENS,
      ports: {
        record: (ending) => this.#record(ending),
        callTool: (child, request) => this.#callTool(child, request),
        log: ({ path }, line) => this.#launches.get(path)?.echo.line(line),
        notice: (child, notice) => {
          if (this.#roots.has(child.path)) options.onNotice?.(notice);
        },
        restarted: (child) => options.onRestarted?.(child),
        ...(processes === undefined ? {} : { processes }),
      },
    });
    if (root === undefined || limits === undefined) return;
    this.#parents.set(OWN_PLACE, {
      sessionId: root.places.id,
      contextId: newId("ctx"),
      runtime: root.places.runtime,
      authority: { grants: root.grants, limits, depth: 0 },
      envValues: root.envValues,
      remainingMs: () => root.remainingMs(),
      ends: new UnheardEnds(this.#options.maxUnheard),
    });
  }

  /** Starts a session of the operator's. What it may do bounds all that it delegates to. */
  startRoot(request: RootRequest): SessionChild | Refusal {
    const { limits, warm = false, hasDoor = false, restarts = false, intelligence } = request;
    return this.supervisor.spawn({
      limits,
      role: intelligence === undefined ? "command" : "agent",
      warm,
      hasDoor,
      restarts,
      reserveTokens: COMMAND_TOKENS,
      prepare: (slot) => this.#prepareRoot(request, slot).launch,
    });
  }

  #prepareRoot(
    { limits, grants, envValues, intelligence, peers = [], prepare, remainingMs }: RootRequest,
    slot: Slot,
  ): PreparedSession {
    const prepared = prepare(slot);
    const { places } = prepared;
    this.#roots.set(slot.path, prepared);
    this.#parents.set(slot.path, {
      sessionId: places.id,
      contextId: newId("ctx"),
      runtime: places.runtime,
      authority: { grants, limits: delegableLimits(limits, intelligence !== undefined), depth: slot.depth },
      envValues,
      ...(intelligence === undefined ? {} : { intelligence }),
      peers,
      remainingMs,
      ends: new UnheardEnds(this.#options.maxUnheard),
    });
    this.#options.onStart?.(places);
    return prepared;
  }

  /** The launcher as the session at that place sees it. */
  at(path: string): ChildLauncher {
    return {
      start: (call) => Promise.resolve(this.#start(path, call)),
      ended: (delegationId) => this.#ended(path, delegationId),
      stop: (delegationId) => Promise.resolve(this.#stop(path, delegationId)),
    };
  }

  /** Ends every session below the root, because the root's guest has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.end(BY_PARENT);
  }

  /** Ends every session below the root, deepest first, and records it; nothing is started any more. */
  async end(reason: EndReason): Promise<void> {
    await this.supervisor.drain(reason);
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
      const name = printableLine(call.capsule, 80);
      if (errorCodeOf(error) === undefined) return this.#failed(name, String(error));
      const { code, message, problems } = error as CapsuleError;
      if (code === "grant.import_not_granted") {
        return { kind: "refused", message: `Delegate to ${name}: ${problems.join("; ")}` };
      }
      if (REFUSALS.includes(code)) return { kind: "refused", message };
      return this.#failed(name, message);
    }
  }

  /** What went wrong may name a place of the host's, which is the operator's to know. */
  #failed(name: string, why: string): DelegateRefusal {
    this.#options.warn(`Delegate to ${name}: ${why}`);
    return { kind: "failed", message: `Delegate to ${name}: it could not be started` };
  }

  #launch(path: string, call: DelegateCall): ChildStarted | DelegateRefusal {
    const parent = this.#parents.get(path);
    if (parent === undefined) return { kind: "refused", message: "Delegate: the session that asks has ended" };
    if (parent.ends.refusal !== undefined) return { kind: "refused", message: parent.ends.refusal };
    const spawnable = findFor(parent, call, (name) => this.#options.find(name));
    const authority = narrowFor(parent, call, spawnable);
    const built = spawnable.built(authority.grants.limits.memory_mb);
    if (built === undefined) throw new CapsuleError("component.cache_mismatch", "its component is not built");
    checkBuilt(spawnable.capsule, built, authority.grants);
    const intelligence = intelligenceFor(parent, spawnable);
    const peers = peersFor(parent, spawnable);
    let launch: Launch | undefined;
    let failure: unknown;
    const child = this.supervisor.spawn({
      parent: path,
      limits: authority.limits,
      role: intelligence === undefined ? "command" : "agent",
      reserveTokens: COMMAND_TOKENS,
      prepare: (slot) => {
        try {
          checkUnchanged(spawnable);
          launch = this.#prepare({
            slot,
            parent,
            spawnable,
            built,
            ...(intelligence === undefined ? {} : { intelligence }),
            peers,
            authority,
            task: call.task,
          });
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

  /** Everything that a start makes, before there is a process. @throws `home.unwritable`, `runtime.unusable`, … */
  #prepare(start: Omit<ChildStart, "delegationId">): Launch {
    const { slot, parent, spawnable: { capsule, manifest }, authority, intelligence = parent.intelligence } = start;
    const delegation_id = this.#ids.mint();
    const request = sessionRequest({ ...start, delegationId: delegation_id }, this.#options);
    const prepared = prepareSession(request);
    const { places } = prepared;
    const startedMs = performance.now();
    this.#parents.set(slot.path, {
      sessionId: places.id,
      contextId: newId("ctx"),
      runtime: places.runtime,
      authority: { ...authority, limits: delegableLimits(authority.limits, start.intelligence !== undefined) },
      envValues: request.envValues,
      ...(intelligence === undefined ? {} : { intelligence }),
      peers: start.peers,
      remainingMs: () => authority.limits.deadline_ms - (performance.now() - startedMs),
      ends: new UnheardEnds(this.#options.maxUnheard),
    });
    const launched: Launched = {
      delegation_id,
      session_id: places.id,
      capsule_name: capsule.name,
      capsule_version: manifest.version,
      workdir: places.work,
    };
    const echo = new ChildEcho(delegation_id, (line) => this.#options.warn(line));
    const launch = { launched, parent, prepared, echo };
    this.#launches.set(slot.path, launch);
    this.#options.onStart?.(places);
    return launch;
  }

  #watch(child: SessionChild, launch: Launch, deadlineMs: number): ChildStarted {
    const { delegation_id, session_id, capsule_name, capsule_version } = launch.launched;
    const timer = setTimeout(() => this.supervisor.stop(child.path, AT_DEADLINE), deadlineMs);
    const end = child.ended.then((ending) => {
      clearTimeout(timer);
      return this.#close(ending, launch);
    });
    launch.parent.ends.add(delegation_id, end);
    this.#closing.add(end);
    end.catch(() => {}).finally(() => this.#closing.delete(end));
    return { delegation_id, session_id, capsule: capsule_name, version: capsule_version, deadline_ms: deadlineMs };
  }

  /** The record port: whoever waits is told after it, and it posts to nobody that could hold it up. */
  async #record(ending: ChildEnding): Promise<void> {
    const root = this.#roots.get(ending.path);
    if (root !== undefined) return this.#closeRoot(ending, root);
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

  #closeRoot(ending: ChildEnding, root: PreparedSession): void {
    try {
      recordEnding(root.places, ending);
    } catch (error) {
      this.#options.warn((error as Error).message);
    }
    this.#roots.delete(ending.path);
    this.#parents.delete(ending.path);
    this.#options.onEnd?.(root.places);
    root[Symbol.dispose]();
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
        { runtime: parent.runtime, delegationId, minted: this.#ids, openFolder: this.#options.openFolder },
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
    const { ends = new UnheardEnds() } = this.#parents.get(path) ?? {};
    return await ends.take(delegationId);
  }

  /** Ends a child of the session at that place; one of another's is none. It goes on by itself. */
  #stop(path: string, delegationId: string): void {
    const parent = this.#parents.get(path);
    for (const [childPath, { launched, parent: own }] of this.#launches) {
      if (own === parent && launched.delegation_id === delegationId) this.supervisor.stop(childPath, BY_PARENT);
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
      case DELEGATION_TOOLS.stop: {
        this.#stop(path, new Fields(args, "args").string("delegation_id", { max: 64 }));
        return { result: {}, is_error: false };
      }
      default:
        return { result: `there is no tool ${printableLine(name, 80)} here`, is_error: true };
    }
  }
}
