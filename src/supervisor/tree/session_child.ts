import { encodeFrame, FrameDecoder } from "../../protocol/mod.ts";
import {
  type ControlMsg,
  decodeAgent,
  mintAllowedTools,
  type SpawnPayload,
  type SwapIntel,
} from "../../protocol/control/mod.ts";
import type { TreeNode } from "../../protocol/tree/mod.ts";
import { spawnPatiently } from "../cell_process.ts";
import { toBudgetGrant } from "./budget.ts";
import { ChildGroup, killQuietly } from "./child_group.ts";
import type { ChildHost } from "./child_host.ts";
import { verdictOf, wakeAtMs } from "./child_clock.ts";
import type { Ending } from "./child_ending.ts";
import { type Flow, FLOW_PER_SECOND, newFlow, takeOne } from "./flow.ts";
import { step } from "./child_machine.ts";
import {
  type ChildCommand,
  type ChildEffect,
  type ChildInput,
  type ChildRules,
  type ChildState,
  type CommandVerdict,
  type EndReason,
  newChild,
  type Phase,
} from "./child_state.ts";
import { ChildPipes } from "./child_pipes.ts";
import type { ChildEnding, SessionLaunch, Slot, SpawnRequest } from "./session_launch.ts";
import { StderrLines } from "./stderr_lines.ts";
import { MAX_QUEUED_BYTES, MAX_QUEUED_FRAMES, WriteQueue } from "./write_queue.ts";

/** The longest name that a tree's answer may hold, characters. */
const MAX_SHOWN_NAME = 128;

/**
 * One session process: the machine of `child_machine.ts` with its effects done. Frames go to the machine as they are
 * read, with no queue that an exit could overtake.
 */
export class SessionChild {
  readonly kind = "child";
  readonly slot: Slot;
  readonly request: SpawnRequest;
  /** Settles when it is reaped and its ending recorded; never rejects. */
  readonly ended: Promise<ChildEnding>;
  readonly #resolveEnded: (ending: ChildEnding) => void;
  readonly #host: ChildHost;
  readonly #startedEpochMs: number;
  readonly #stderr: StderrLines;
  readonly #early: ControlMsg[] = [];
  #state: ChildState;
  #payload: SpawnPayload | undefined;
  #group: ChildGroup | undefined;
  #queue: WriteQueue | undefined;
  #timer: { readonly atMs: number; readonly stop: () => void } | undefined;
  #deaf = false;
  #lines: Flow;
  #lostLines = 0;

  constructor(host: ChildHost, request: SpawnRequest, slot: Slot, rules: ChildRules) {
    this.#host = host;
    this.request = request;
    this.slot = slot;
    this.#startedEpochMs = host.clock.epochMs();
    this.#state = newChild(rules, host.clock.nowMs());
    this.#stderr = new StderrLines((line) => this.#log(line));
    this.#lines = newFlow(host.clock.nowMs());
    const { promise, resolve } = Promise.withResolvers<ChildEnding>();
    this.ended = promise;
    this.#resolveEnded = resolve;
    this.#arm();
  }

  get path(): string {
    return this.slot.path;
  }

  /** Empty until it is prepared. */
  get sessionId(): string {
    return this.#payload?.places.session_id ?? "";
  }

  get phase(): Phase {
    return this.#state.phase;
  }

  /** It has ended; TypeScript would take two looks at its phase for one. */
  get isOver(): boolean {
    return this.#state.phase === "ended";
  }

  /** Whether its ladder reached SIGKILL. */
  get wasKilled(): boolean {
    return this.#state.ladder?.step === "killed";
  }

  /** What `ps` shows of it. */
  node(): TreeNode {
    const { clock } = this.#host;
    const [nowMs, state] = [clock.nowMs(), this.#state];
    return {
      path: this.path,
      session_id: this.sessionId,
      capsule: this.#payload?.capsule.name.slice(0, MAX_SHOWN_NAME) ?? "",
      state: state.phase,
      verdict: verdictOf(state, nowMs),
      pid: this.#group?.pid ?? 0,
      tokens_in: state.tokensIn,
      tokens_out: state.tokensOut,
      started_ms: this.#startedEpochMs,
      progress_ms: Math.round(clock.epochMs() - (nowMs - state.progressMs)),
    };
  }

  pause(): CommandVerdict {
    return this.#command({ kind: "pause" });
  }

  resume(): CommandVerdict {
    return this.#command({ kind: "resume" });
  }

  /** Down the ladder. */
  cancel(reason: EndReason): CommandVerdict {
    return this.#command({ kind: "cancel", reason });
  }

  /** SIGKILL to its group, now. */
  kill(reason: EndReason): CommandVerdict {
    return this.#command({ kind: "kill", reason });
  }

  /** Ends a warm session, with its last result when no turn runs. */
  close(): CommandVerdict {
    return this.#command({ kind: "close" });
  }

  /** Ends the turn that runs in a warm session, which then waits for its next message. */
  cancelTurn(): CommandVerdict {
    return this.#command({ kind: "cancel_turn" });
  }

  /** One more message for a warm session. @throws `protocol.frame_too_large` */
  inject(message: string): CommandVerdict {
    encodeFrame({ type: "inject", message });
    return this.#command({ kind: "inject", message });
  }

  /** The answer to its open gate. @throws `protocol.frame_too_large` */
  reply(node: string, message: string): CommandVerdict {
    encodeFrame({ type: "inject", message, node });
    return this.#command({ kind: "reply", node, message });
  }

  /** Another model endpoint from its next turn boundary on. @throws `protocol.frame_too_large` */
  swap(swap: Omit<SwapIntel, "type">): CommandVerdict {
    encodeFrame({ type: "swap_intel", ...swap });
    return this.#command({ kind: "swap", swap });
  }

  /** Starts the process; never rejects, since a start that fails is an ending. */
  async start(): Promise<void> {
    try {
      const prepared = this.request.prepare(this.slot);
      const launch = prepared instanceof Promise ? await prepared : prepared;
      this.#payload = this.#mint(launch.payload);
      const spawn = encodeFrame({ type: "spawn", ...this.#payload });
      // Whoever cancelled meanwhile gets no process to kill.
      if (this.#state.phase !== "starting") throw new Error("Start a session: it was cancelled before");
      const child = await spawnPatiently(toCommand(launch), "a session");
      if (this.isOver) discard(child);
      else this.#attach(child, spawn);
    } catch (error) {
      this.#feed({ kind: "not_started", detail: (error as Error).message });
    }
  }

  /** Told by the supervisor when all that an ending leads to is done. */
  resolve(ending: ChildEnding): void {
    this.#resolveEnded(ending);
  }

  #mint(payload: SpawnPayload): SpawnPayload {
    const { limits, role = "agent", warm = false, allowedTools } = this.request;
    return {
      ...payload,
      limits,
      role,
      warm,
      depth: this.slot.depth,
      telemetry: { ...payload.telemetry, agent_path: this.path },
      context_seed: mintAllowedTools(payload.context_seed, allowedTools),
    };
  }

  #attach(child: Deno.ChildProcess, spawn: Uint8Array): void {
    const group = new ChildGroup(child.pid, this.#host);
    this.#group = group;
    this.#queue = new WriteQueue(child.stdin.getWriter());
    this.#queue.push(spawn);
    for (const message of this.#early.splice(0)) this.#send(message);
    const decoder = new FrameDecoder();
    const pipes = new ChildPipes(child, this.#host.clock, {
      stdout: (chunk) => this.#hear(decoder, chunk),
      stdoutEnd: () => this.#feed({ kind: "eof", ...(!this.#deaf && tornEnd(decoder)) }),
      stderr: (chunk) => this.#stderr.push(chunk),
    });
    child.status.then(async ({ code, signal }) => {
      group.leaderIsGone();
      this.#feed({ kind: "exit", exit: { code, signal } });
      await pipes.drained();
      this.#queue?.abort();
      this.#stderr.end();
      await group.gone();
      this.#feed({ kind: "drained", tail: this.#stderr.tail, lostLines: this.#lostLines });
    });
  }

  #command(command: ChildCommand): CommandVerdict {
    return this.#feed({ kind: "command", command }) ?? "ended";
  }

  /** The state is the next one before its effects are done, so that whatever they lead to finds it. */
  #feed(input: ChildInput): CommandVerdict | undefined {
    const { state, effects } = step(this.#state, input, this.#host.clock.nowMs());
    this.#state = state;
    let verdict: CommandVerdict | undefined;
    for (const effect of effects) {
      if (effect.kind === "told") verdict = effect.verdict;
      else this.#do(effect);
    }
    this.#arm();
    return verdict;
  }

  #do(effect: Exclude<ChildEffect, { kind: "told" }>): void {
    switch (effect.kind) {
      case "send":
        return this.#send(effect.message);
      case "close_stdin":
        this.#group?.look();
        return this.#queue?.close();
      case "signal":
        return this.#signal(effect.signal);
      case "spent":
        return this.#host.spend(this, effect.tokens);
      case "tool":
        return this.#callTool(effect);
      case "budget":
        return this.#askBudget(effect.id, effect);
      case "notice":
        return this.#host.notice(this, effect.notice);
      case "log":
        return this.#host.log(this, effect.line);
      case "settle":
        return this.#settle(effect.ending);
    }
  }

  #send(message: ControlMsg): void {
    if (!this.#queue) {
      this.#early.push(message);
      return;
    }
    if (this.#queue.push(encodeOrRefuse(message))) return;
    const detail = `the session does not read what it is sent: ${this.#queue.frames} frames, ` +
      `${this.#queue.bytes} bytes wait, at most ${MAX_QUEUED_FRAMES} and ${MAX_QUEUED_BYTES} may`;
    this.#feed({ kind: "blocked", detail });
  }

  #callTool({ id, kind: _, ...request }: Extract<ChildEffect, { readonly kind: "tool" }>): void {
    this.#host.callTool(this, request).then(
      ({ result, is_error }) =>
        this.#command({ kind: "answer", message: { type: "tool_result", id, result, is_error } }),
    );
  }

  #askBudget(id: number, ask: { readonly estimate: number; readonly ownLeft: number }): void {
    this.#host.askBudget(this, ask).then((verdict) => {
      this.#command({ kind: "answer", message: toBudgetGrant(id, verdict) });
    });
  }

  #signal(signal: "SIGTERM" | "SIGKILL"): void {
    if (this.#group) return this.#group.signal(signal);
    if (signal === "SIGKILL") this.#feed({ kind: "not_started", detail: "the session was killed before it started" });
  }

  #hear(decoder: FrameDecoder, chunk: Uint8Array): void {
    if (this.#deaf) return;
    try {
      for (const message of decoder.push(chunk)) {
        this.#feed({ kind: "frame", message: decodeAgent(message, decoder.payloadOffset) });
      }
    } catch (error) {
      this.#deaf = true;
      this.#feed({ kind: "fault", detail: (error as Error).message });
    }
  }

  /** A line of its log; of a flood, what can be read. */
  #log(line: string): void {
    const lines = takeOne(this.#lines, this.#host.clock.nowMs());
    if (lines) {
      this.#lines = lines;
      return this.#host.log(this, line);
    }
    if (++this.#lostLines > 1) return;
    this.#host.log(this, `a session floods its log: lines beyond ${FLOW_PER_SECOND} a second are counted only`);
  }

  #settle(ending: Ending): void {
    const survivors = this.#group?.survivors() ?? [];
    this.#host.settle(this, {
      path: this.path,
      session_id: this.sessionId,
      ...ending,
      ...(survivors.length > 0 && { survivors }),
    });
  }

  /** One timer, which may come too early and never too late. */
  #arm(): void {
    const atMs = wakeAtMs(this.#state);
    if (this.#timer && atMs !== undefined && this.#timer.atMs <= atMs) return;
    this.#timer?.stop();
    this.#timer = undefined;
    if (atMs === undefined) return;
    const { clock } = this.#host;
    const stop = clock.after(Math.max(0, Math.ceil(atMs - clock.nowMs())), () => {
      this.#timer = undefined;
      this.#feed({ kind: "tick" });
    });
    this.#timer = { atMs, stop };
  }
}

function toCommand({ program, args, env }: SessionLaunch): Deno.Command {
  return new Deno.Command(program, {
    args: [...args],
    env: { ...env },
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    detached: Deno.build.os !== "windows",
  });
}

/** An answer that is too large for a frame becomes one that says so: silence would hang whoever asked. */
function encodeOrRefuse(message: ControlMsg): Uint8Array {
  try {
    return encodeFrame(message);
  } catch (error) {
    if (message.type !== "tool_result") throw error;
    return encodeFrame({ ...message, result: (error as Error).message, is_error: true });
  }
}

function tornEnd(decoder: FrameDecoder): { torn: string } | undefined {
  try {
    decoder.end();
    return undefined;
  } catch (error) {
    return { torn: (error as Error).message };
  }
}

/** A process that came after its session was given up. */
function discard(child: Deno.ChildProcess): void {
  killQuietly(-child.pid, "SIGKILL");
  child.stdin.abort().catch(() => {});
  child.stdout.cancel().catch(() => {});
  child.stderr.cancel().catch(() => {});
}
