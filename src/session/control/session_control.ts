import { CapsuleError, errorCodeOf } from "../../base/mod.ts";
import {
  type AgentMsg,
  type ControlMsg,
  REASON_CLOSED,
  REASON_DEADLINE,
  type TaskOutcome,
  type UnknownMessage,
} from "../../protocol/control/mod.ts";
import { deadlinePassed, interrupted, type Outcome } from "../outcome.ts";
import { Pause } from "./pause.ts";
import type { SessionChannel } from "./session_channel.ts";
import type { SessionLog } from "./session_log.ts";
import { ToolRequests } from "./tool_requests.ts";
import { TurnInbox } from "./turn_inbox.ts";

/** How long the work has to end once it was told to, ms: a session without a supervisor is gone within 2 s. */
const WIND_DOWN_MS = 1_500;

/** With a door there are others to be told; the supervisor's SIGTERM comes after 5 s. */
const DOOR_WIND_DOWN_MS = 4_500;

/** What a session is, for who watches over its work. */
export interface SessionNature {
  /** Its turns come from a door of its own. */
  readonly hasDoor: boolean;
  /** Each of its turns has a deadline of its own. Default: only with a door. */
  readonly isWarm?: boolean;
  /** It has a loop over a model, which stands still and changes its model at its own boundaries. */
  readonly hasModel?: boolean;
}

/** The most kinds of dropped messages that are told apart. */
const MAX_DROPPED_KINDS = 64;

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** What a session is told while it works: by its supervisor, by the clock and by the kernel. The first word to end counts. */
export class SessionControl {
  readonly pause = new Pause();
  /** What it asks of its supervisor. */
  readonly requests: ToolRequests;
  /** What a session with a model is told for its turns. */
  readonly inbox: TurnInbox | undefined;
  readonly #channel: SessionChannel;
  readonly #log: SessionLog;
  readonly #stop = new AbortController();
  readonly #overdue = Promise.withResolvers<void>();
  readonly #alone = Promise.withResolvers<void>();
  readonly #dropped = new Set<string>();
  readonly #hasDoor: boolean;
  readonly #isWarm: boolean;
  #ending: Outcome | undefined;
  #isForced = false;
  #isClosed = false;

  constructor(channel: SessionChannel, log: SessionLog, nature: SessionNature = { hasDoor: false }) {
    const { hasDoor, isWarm = hasDoor, hasModel = false } = nature;
    this.#channel = channel;
    this.requests = new ToolRequests(channel);
    this.#log = log;
    this.#hasDoor = hasDoor;
    this.#isWarm = isWarm;
    this.inbox = hasModel ? new TurnInbox({ takesTurns: isWarm && !hasDoor }) : undefined;
  }

  /** Aborts when the work is to end; its reason is the word `deadline` when that is why. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Settles when the work was told to end and has had its time. */
  get overdue(): Promise<void> {
    return this.#overdue.promise;
  }

  /** Settles when nobody is there any more to be told. */
  get alone(): Promise<void> {
    return this.#alone.promise;
  }

  /** Arms the deadline, and what the kernel may have to say. */
  watch(deadlineMs: number): void {
    if (!this.#isWarm) setTimeout(() => this.#end(deadlinePassed(), "deadline"), deadlineMs);
    globalThis.addEventListener("unhandledrejection", (event) => {
      event.preventDefault();
      // Whoever found a way to cause one would end the service for everybody.
      if (this.#hasDoor) return this.#log.write("error", `A failure of its own: ${describe(event.reason)}`);
      this.#force({ status: "crashed", exit_code: 1, ended_by: "crashed", detail: "a failure of its own" });
    });
    if (Deno.build.os === "windows") return;
    for (const name of SIGNALS) Deno.addSignalListener(name, () => this.#end({ ...interrupted(), detail: name }));
    Deno.addSignalListener("SIGXCPU", () => this.#force(CPU_USED_UP));
  }

  /** Says that the work can start, and when it is held that it does not yet. */
  sayReady(): void {
    this.#channel.send({ type: "ready" });
    if (this.pause.isHeld && this.inbox === undefined) this.#tell("loop.paused");
  }

  /** Says something of the work's own. */
  say(message: AgentMsg): void {
    this.#channel.send(message);
  }

  /** Says something that may be missed. */
  offer(message: AgentMsg): void {
    this.#channel.offer(message);
  }

  /** Logs a failure of the work's own, which nobody else is shown. */
  logFailure(text: string): void {
    this.#log.write("error", `A failure of its own: ${text}`);
  }

  /** Settles once nothing holds the loop, which says so when something did. */
  async passBoundary(): Promise<void> {
    if (!this.pause.isHeld || this.signal.aborted) return;
    this.#tell("loop.paused");
    await this.pause.passed();
    if (!this.signal.aborted) this.#tell("loop.resumed");
  }

  /** Says that the door is open, and where. */
  sayOpen(url: string): void {
    this.#channel.send({ type: "event", event: "door.open", fields: { url } });
  }

  /** Says that a task of the door begins its turn. */
  startTurn(task: string, isPeers: boolean): void {
    this.#channel.send({ type: "event", event: "turn.start", fields: { task, ...(isPeers ? { peer: true } : {}) } });
  }

  /** Says what a turn came to. */
  endTurn(outcome: TaskOutcome): void {
    this.#channel.send({ type: "turn", outcome });
  }

  /** Follows what the supervisor says to its end. Never rejects. */
  async serve(frames: AsyncGenerator<ControlMsg | UnknownMessage>): Promise<void> {
    try {
      for await (const message of frames) this.#take(message);
      this.#alone.resolve();
      this.#end({ ...interrupted(), detail: "its supervisor is gone" });
      setTimeout(() => this.#overdue.resolve(), WIND_DOWN_MS);
    } catch (error) {
      const detail = errorCodeOf(error) === undefined ? "a failure of its own" : (error as Error).message;
      this.#log.write("error", detail);
      this.#force({ status: "crashed", exit_code: 2, ended_by: "protocol_broken", detail });
    }
  }

  /** How the session ended, when its work came to `own`: that is the guest's own word, or the reason it was ended for. */
  judge(own: Outcome): Outcome {
    if (this.#ending === undefined) return own;
    const wasEnded = own.ended_by === "interrupted" || own.ended_by === "deadline";
    return this.#isForced || wasEnded ? this.#ending : own;
  }

  /** Whether it was told to end between two turns, as whoever has nothing more to say does. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Why the work was told to end. */
  get ending(): Outcome | undefined {
    return this.#ending;
  }

  #take(message: ControlMsg | UnknownMessage): void {
    switch (message.type) {
      case "ping":
        this.#channel.offer({ type: "pong", seq: message.seq });
        break;
      case "pause":
        if (this.#ending === undefined && this.pause.hold() && this.inbox === undefined) this.#tell("loop.paused");
        break;
      case "resume":
        if (this.pause.release() && this.inbox === undefined) this.#tell("loop.resumed");
        break;
      case "cancel":
        this.#cancel(message.reason);
        break;
      case "cancel_turn":
        if (!this.inbox?.cancelTurn()) this.#drop(message.type, "no turn runs that could be ended by itself");
        break;
      case "swap_intel":
        if (this.inbox === undefined) this.#tell("intel.swap.reject", { reason: "this session has no model" });
        else this.inbox.offerSwap(message);
        break;
      case "spawn":
        throw new CapsuleError("protocol.unexpected", "Read a message: spawn came a second time");
      case "tool_result":
      case "budget_grant":
        if (!this.requests.settle(message)) this.#drop(message.type, "this session has not asked for it");
        break;
      case "inject": {
        const why = this.inbox === undefined ? "this session has not asked for it" : this.inbox.inject(message);
        if (why !== undefined) this.#drop(message.type, why);
        break;
      }
      case "unknown":
        this.#drop(message.tag, "its type is not known");
        break;
    }
  }

  #cancel(reason: string): void {
    this.#isClosed ||= reason === REASON_CLOSED;
    if (reason === REASON_DEADLINE) this.#end(deadlinePassed(), "deadline");
    else this.#end({ ...interrupted(), detail: reason });
  }

  #tell(event: string, fields: Record<string, unknown> = {}): void {
    this.#channel.offer({ type: "event", event, fields });
  }

  #drop(kind: string, why: string): void {
    if (this.#dropped.has(kind) || this.#dropped.size >= MAX_DROPPED_KINDS) return;
    this.#dropped.add(kind);
    this.#log.write("warn", `Dropped a message ${kind}: ${why}; no more is said of its kind`);
  }

  /** Whatever the work comes to, this is the ending. */
  #force(ending: Outcome): void {
    if (this.#isForced) return;
    this.#isForced = true;
    this.#ending = ending;
    this.#windDown("interrupted");
  }

  #end(ending: Outcome, reason: "deadline" | "interrupted" = "interrupted"): void {
    this.#ending ??= ending;
    this.#windDown(reason);
  }

  #windDown(reason: string): void {
    this.#stop.abort(reason);
    this.pause.release();
    setTimeout(() => this.#overdue.resolve(), this.#hasDoor ? DOOR_WIND_DOWN_MS : WIND_DOWN_MS);
  }
}

function describe(reason: unknown): string {
  return reason instanceof Error ? reason.stack ?? reason.message : String(reason);
}

const CPU_USED_UP: Outcome = {
  status: "failed",
  exit_code: 8,
  ended_by: "cpu",
  detail: "the session used up its CPU time",
};
