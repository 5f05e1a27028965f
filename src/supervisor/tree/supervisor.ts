import { CapsuleError } from "../../base/mod.ts";
import type { TreeAction, TreeNode } from "../../protocol/tree/mod.ts";
import type { TreeControl } from "../tree_socket/mod.ts";
import { isOwnProcess } from "../own_processes.ts";
import { ADMISSION_LIMITS, type AdmissionLimits, admit, type RateBucket, type Refusal } from "./admission.ts";
import { type BudgetVerdict, decideBudget, TreeBudget } from "./budget.ts";
import type { ToolOutcome } from "./child_host.ts";
import { CHILD_TIMINGS, type ChildRules, type EndReason, type Notice, type ToolRequest } from "./child_state.ts";
import { type Clock, SYSTEM_CLOCK } from "./clock.ts";
import { endDeepestFirst } from "./end_deepest_first.ts";
import { IntelHealth } from "./intel_health.ts";
import type { ProcessWatch } from "./process_watch.ts";
import { SessionChild } from "./session_child.ts";
import type { ChildEnding, SpawnRequest } from "./session_launch.ts";
import { DRAIN_TIMINGS, type DrainReport, OWN_PLACE, type SupervisorOptions } from "./supervisor_options.ts";
import { comparePaths, isWithin } from "./tree_paths.ts";
import { WarmRestarts } from "./warm_restarts.ts";

/** Who asks for a start: its path, or none; and how deep the session may be that it asks for, and is. */
interface Caller {
  readonly path: string;
  readonly depth: number;
  readonly maxDepth: number;
}

const REAP_INTERVAL_MS = 1_000;

const STOPPED: EndReason = { status: "cancelled", ended_by: "terminated", detail: "the session was stopped" };
const DRAINED: EndReason = { status: "cancelled", ended_by: "interrupted", detail: "the tree is ending" };
const ORPHANED: EndReason = {
  status: "cancelled",
  ended_by: "terminated",
  detail: "the session that started it has ended",
};

/**
 * Starts, watches and ends every session of one tree. Nothing that a child does or leaves undone blocks it, and every
 * ending goes through {@link Supervisor.#settle}. Several in one program know nothing of each other. Spawns from the
 * thread that calls it: the death signal of a child is tied to that thread.
 */
export class Supervisor implements TreeControl, AsyncDisposable {
  readonly budget: TreeBudget;
  readonly intel = new IntelHealth();
  readonly #options: SupervisorOptions;
  readonly #clock: Clock;
  readonly #limits: AdmissionLimits;
  readonly #children = new Map<string, SessionChild>();
  readonly #started = new Map<string, number>();
  readonly #restarts: WarmRestarts;
  /** Nothing is started at or below these paths. */
  readonly #stopping = new Set<string>();
  readonly #endings: ChildEnding[] = [];
  #bucket: RateBucket;
  #draining = false;
  #stopReaping: () => void = () => {};

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    this.#limits = options.admission ?? ADMISSION_LIMITS;
    this.budget = new TreeBudget(options.treeTokens);
    this.#restarts = new WarmRestarts(this.#clock, options.random ?? Math.random);
    this.#bucket = { starts: this.#limits.burst, atMs: this.#clock.nowMs() };
    if (options.ports?.processes) this.#reapRegularly(options.ports.processes);
  }

  /** Starts a session, or says which gate refused. The child is listed before it has a process. */
  spawn(request: SpawnRequest): SessionChild | Refusal {
    const caller = this.#callerOf(request.parent);
    if (caller === undefined) {
      const asker = request.parent ?? "nobody";
      const message = `Start a session: ${asker}, which asks for it, is ending or has ended`;
      return { kind: "refused", gate: "caller", message };
    }
    const refusal = this.#admit(request, caller);
    if (refusal) return refusal;
    const { path, depth } = caller;
    const started = this.#started.get(path) ?? 0;
    this.#started.set(path, started + 1);
    return this.#start(request, { path: path === "" ? `${started}` : `${path}.${started + 1}`, depth, attempt: 0 });
  }

  /** Every living session, and every one that is about to be started again; parents before children. */
  list(): TreeNode[] {
    const living = [...this.#children.values()].map((child) => child.node());
    const waiting = this.#restarts.waiting.map((child): TreeNode => {
      return { ...child.node(), state: "starting", verdict: "restarting", pid: 0 };
    });
    return [...living, ...waiting].sort((a, b) => comparePaths(a.path, b.path));
  }

  /** The living session at that path. */
  child(path: string): SessionChild | undefined {
    return this.#children.get(path);
  }

  /**
   * Asks it of the session at that path and of all below it; at {@link OWN_PLACE} of all below this process. A stop goes on
   * by itself: {@link Supervisor.stop} waits.
   *
   * @throws `tree.not_running`; `tree.refused` when the session is ending
   */
  act(action: TreeAction, path: string): void {
    const child = this.#children.get(path);
    const isOwn = path === OWN_PLACE && this.#options.own !== undefined;
    if (!child && !isOwn && !this.#restarts.isWaiting(path)) {
      throw new CapsuleError("tree.not_running", `Find ${path}: no session of this tree is there`);
    }
    if (action === "stop") {
      this.stop(path);
      return;
    }
    if (!child && !isOwn) {
      throw new CapsuleError("tree.refused", `It is about to be started again: it cannot ${action}`);
    }
    if (this.#isStopping(path)) throw new CapsuleError("tree.refused", `It is ending: it cannot ${action}`);
    const verdict = action === "pause" ? child?.pause() : child?.resume();
    if (verdict === "ending") throw new CapsuleError("tree.refused", `It is ending: it cannot ${action}`);
    for (const below of this.#below(path)) {
      if (action === "pause") below.pause();
      else below.resume();
    }
  }

  /**
   * Ends the session and all below it, deepest first; settles when they are gone. Meanwhile nothing is started there: one
   * whose turn to end has not come could have others in place of those that went.
   */
  async stop(path: string, reason: EndReason = STOPPED): Promise<void> {
    this.#stopping.add(path);
    for (const waiting of this.#restarts.waiting) if (isWithin(waiting.path, path)) this.#callOff(waiting.path);
    try {
      await endDeepestFirst(this.#below(path), reason);
    } finally {
      this.#stopping.delete(path);
    }
  }

  /**
   * Ends the tree, deepest first, and starts nothing more: within `patienceMs` by their ladders, then SIGKILL to all,
   * and after `killMs` more it reports what is left.
   */
  async drain(reason: EndReason = DRAINED): Promise<DrainReport> {
    this.#endStarts();
    const { patienceMs, killMs } = this.#options.drain ?? DRAIN_TIMINGS;
    const children = [...this.#children.values()];
    const gone = endDeepestFirst(children, reason);
    await this.#within(gone, patienceMs);
    this.#killAll(reason);
    await this.#within(gone, killMs);
    const killed = children.filter((child) => child.wasKilled).map(({ path }) => path);
    return { endings: [...this.#endings], killed, stragglers: this.list() };
  }

  /** What a second signal asks for: SIGKILL to every group, now. */
  killNow(reason: EndReason = DRAINED): void {
    this.#endStarts();
    this.#killAll(reason);
  }

  /** Kills what lives and waits for it, as long as a drain would. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.killNow(STOPPED);
    const { killMs } = this.#options.drain ?? DRAIN_TIMINGS;
    await this.#within(Promise.all([...this.#children.values()].map(({ ended }) => ended)), killMs);
    this.#stopReaping();
  }

  #isStopping(path: string): boolean {
    return [...this.#stopping].some((root) => isWithin(path, root));
  }

  /** Who asks: nobody where children may be roots, this process itself, or a child that is not ending. */
  #callerOf(path: string | undefined): Caller | undefined {
    const { own } = this.#options;
    const { maxDepth } = this.#limits;
    if (path === undefined) return own === undefined ? { path: "", depth: 0, maxDepth } : undefined;
    if (this.#isStopping(path)) return undefined;
    if (path === OWN_PLACE && own !== undefined) return { path, depth: 1, maxDepth: own.maxDepth };
    const child = this.#children.get(path);
    if (child === undefined || child.phase === "ending") return undefined;
    return { path, depth: child.slot.depth + 1, maxDepth: child.request.limits.max_depth };
  }

  /** The living session at that path and all below it. */
  #below(path: string): SessionChild[] {
    return [...this.#children.values()].filter((child) => isWithin(child.path, path));
  }

  #admit(request: SpawnRequest, { depth, maxDepth }: Caller): Refusal | undefined {
    const children = [...this.#children.values()].filter((child) => child.request.parent === request.parent).length;
    const answer = admit({
      draining: this.#draining,
      depth,
      maxDepth,
      children,
      live: this.#children.size,
      wantedTokens: tokensOf(request),
      availableTokens: this.budget.available,
      bucket: this.#bucket,
      nowMs: this.#clock.nowMs(),
    }, this.#limits);
    if (answer.kind === "refused") return answer;
    this.#bucket = answer.bucket;
    return undefined;
  }

  #start(request: SpawnRequest, slot: SessionChild["slot"]): SessionChild {
    this.budget.reserve(slot.path, tokensOf(request), request.limits.max_tokens);
    const { limits, role = "agent", warm = false, hasDoor = false, allowedTools } = request;
    const rules: ChildRules = {
      warm,
      hasDoor,
      role,
      maxTokens: limits.max_tokens,
      deadlineMs: limits.deadline_ms,
      memoryLimited: limits.memory_bytes !== undefined,
      allowedTools,
      timings: this.#options.timings ?? CHILD_TIMINGS,
    };
    const { clock, ports } = { clock: this.#clock, ports: this.#options.ports ?? {} };
    const child = new SessionChild(
      {
        clock,
        processes: ports.processes,
        notice: (child, notice) => this.#notice(child, notice),
        log: (child, line) => this.#quietly(child, () => ports.log?.(child, line)),
        spend: (child, tokens) => this.budget.settle(child.path, tokens),
        callTool: (child, request) => this.#callTool(child, request),
        askBudget: (child, ask) => this.#askBudget(child, ask),
        settle: (child, ending) => this.#settle(child, ending),
      },
      request,
      slot,
      rules,
    );
    this.#children.set(slot.path, child);
    child.start();
    return child;
  }

  /** The one way out: the slot, the reservation, those below, the record, the waiter. Called once for each child. */
  #settle(child: SessionChild, ending: ChildEnding): void {
    this.#children.delete(child.path);
    this.budget.release(child.path);
    this.intel.forget(child.path);
    endDeepestFirst(this.#below(child.path), ORPHANED);
    const restart = this.#decideRestart(child, ending);
    if (restart?.kind !== "restart") this.#forget(child.path);
    const told: ChildEnding = restart ? { ...ending, restart } : ending;
    if (this.#draining) this.#endings.push(told);
    this.#options.ports?.processes?.reapAdopted(isOwnProcess);
    this.#record(child, told).then(() => child.resolve(told));
  }

  #forget(path: string): void {
    this.#restarts.forget(path);
    this.#started.delete(path);
  }

  async #record(child: SessionChild, ending: ChildEnding): Promise<void> {
    try {
      await this.#options.ports?.record?.(ending);
    } catch (error) {
      const line = `the ending of the session could not be recorded: ${(error as Error).message}`;
      this.#quietly(child, () => this.#options.ports?.log?.(child, line));
    }
  }

  #decideRestart(child: SessionChild, ending: ChildEnding): ChildEnding["restart"] {
    if (this.#draining || this.#isStopping(child.path)) return undefined;
    return this.#restarts.decide(child, ending, () => this.#restart(child));
  }

  #callOff(path: string): void {
    this.#restarts.callOff(path);
    this.#forget(path);
  }

  /** A restart passes the gates like any start: meanwhile others may have taken its place. */
  #restart(child: SessionChild): void {
    const { request, slot } = child;
    const caller = this.#callerOf(request.parent);
    const refusal = caller === undefined
      ? { message: "the session that started it has ended" }
      : this.#admit(request, caller);
    if (refusal) {
      this.#forget(slot.path);
      this.#quietly(child, () => this.#options.ports?.log?.(child, `it is not started again: ${refusal.message}`));
      return;
    }
    const next = this.#start(request, { ...slot, attempt: slot.attempt + 1 });
    this.#quietly(child, () => this.#options.ports?.restarted?.(next));
  }

  #notice(child: SessionChild, notice: Notice): void {
    if (notice.kind === "intel_health" && !this.intel.latch(child.path, notice)) return;
    this.#quietly(child, () => this.#options.ports?.notice?.(child, notice));
  }

  async #callTool(child: SessionChild, request: ToolRequest): Promise<ToolOutcome> {
    const { callTool } = this.#options.ports ?? {};
    if (!callTool) return { result: `there is no tool ${request.name} here`, is_error: true };
    try {
      return await callTool(child, request);
    } catch (error) {
      return { result: (error as Error).message, is_error: true };
    }
  }

  #askBudget(child: SessionChild, ask: { estimate: number; ownLeft: number }): Promise<BudgetVerdict> {
    return Promise.resolve(decideBudget(this.budget, { key: child.path, ...ask, cheaper: this.#options.cheaper }));
  }

  /** A port that throws is its own trouble. */
  #quietly(child: SessionChild, run: () => void): void {
    try {
      run();
    } catch (error) {
      try {
        this.#options.ports?.log?.(child, `a port failed: ${(error as Error).message}`);
      } catch { /* the log is that port */ }
    }
  }

  #endStarts(): void {
    this.#draining = true;
    for (const { path } of this.#restarts.waiting) this.#callOff(path);
  }

  #killAll(reason: EndReason): void {
    for (const child of this.#children.values()) child.kill(reason);
  }

  async #within(done: Promise<unknown>, ms: number): Promise<void> {
    let stop = () => {};
    const late = new Promise<void>((resolve) => {
      stop = this.#clock.after(ms, resolve);
    });
    await Promise.race([done, late]);
    stop();
  }

  #reapRegularly(processes: ProcessWatch): void {
    this.#stopReaping = this.#clock.after(REAP_INTERVAL_MS, () => {
      processes.reapAdopted(isOwnProcess);
      this.#reapRegularly(processes);
    });
  }
}

function tokensOf({ limits, reserveTokens }: SpawnRequest): number {
  return reserveTokens ?? limits.max_tokens;
}
