import { errorCodeOf } from "../../base/mod.ts";
import {
  type Intelligence,
  sealTranscript,
  type SwapIntel,
  swapIntel,
  type ToolCall,
} from "../../protocol/control/mod.ts";
import type { SessionControl } from "../../session/role.ts";
import { freshState, type TurnEnd, type TurnInput } from "../loop/mod.ts";
import { LoopWorker } from "./loop_worker.ts";
import { modelNetwork } from "../session/model_network.ts";
import type { ModelHealth } from "../model/mod.ts";
import type { ToolDesk } from "../tools/tool_desk.ts";
import type { TurnChildren } from "../turn/turn_children.ts";
import type { TurnFollower } from "../turn/turn_follower.ts";

/** What a mind is made of. */
export interface AgentMindOptions {
  readonly intelligence: Intelligence;
  readonly caCerts: readonly string[];
  readonly proxy?: string;
  /** The ports that this process can connect to for a model, whichever is swapped in. */
  readonly ports: readonly number[];
  readonly control: Pick<SessionControl, "say" | "passBoundary" | "inbox" | "requests">;
}

/** One turn, and with whom it is done. */
export interface MindTurn {
  readonly input: TurnInput;
  readonly desk: ToolDesk;
  readonly children?: TurnChildren;
  readonly follower: TurnFollower;
  readonly asksBudget: boolean;
  readonly signal: AbortSignal;
}

/**
 * The loop of a session with its model, turn after turn, in a thread that is replaced when the model is, or when it does
 * not end as it was told to.
 */
export class AgentMind implements Disposable {
  readonly #options: AgentMindOptions;
  #intelligence: Intelligence;
  #worker: LoopWorker | undefined;
  #allDown = false;
  #swap: SwapIntel | undefined;

  private constructor(options: AgentMindOptions) {
    this.#options = options;
    this.#intelligence = options.intelligence;
  }

  /** Starts the thread and opens the model. @throws `model.*` */
  static async open(options: AgentMindOptions): Promise<AgentMind> {
    const mind = new AgentMind(options);
    await mind.#open();
    return mind;
  }

  /** Whether any endpoint of its model is thought to answer. */
  get isReachable(): boolean {
    return !this.#allDown;
  }

  /** Runs a turn to its end. Never rejects: what goes wrong is how it ended. */
  async run(turn: MindTurn): Promise<TurnEnd> {
    try {
      return await this.#run(turn);
    } catch (error) {
      this.#close();
      if (turn.signal.aborted) return this.#lostEnd(turn);
      const bug = error instanceof Error ? error.stack ?? error.message : String(error);
      const code = errorCodeOf(error);
      const told = code === undefined ? { code: "internal", message: "The runtime failed" } : {
        code,
        message: (error as Error).message,
      };
      return { ...this.#lostEnd(turn), status: "failed", reason: told.message, error: told, ...(code ? {} : { bug }) };
    }
  }

  [Symbol.dispose](): void {
    this.#close();
  }

  async #run(turn: MindTurn): Promise<TurnEnd> {
    let { input } = turn;
    for (;;) {
      if (!this.#worker?.isAlive) await this.#open();
      const { asksBudget, signal, desk } = turn;
      const exit = await this.#worker!.run({ input, tools: desk.offered, asksBudget }, {
        signal,
        boundary: async () => {
          await this.#options.control.passBoundary();
          this.#swap = this.#usableSwap();
          return this.#swap === undefined ? "go" : "leave";
        },
        call: async (call: ToolCall, ended: AbortSignal) => {
          const reply = await desk.call(call, ended);
          return { reply, isDelegating: turn.children?.isOpen ?? false };
        },
        budget: (estimate) => this.#options.control.requests.askBudget(estimate),
        outcomes: () => turn.children!.outcomes(),
        onEvent: (event) => turn.follower.follow(event),
      });
      if (exit.kind === "ended") return exit.end;
      this.#close();
      if (exit.kind === "lost") return this.#lostEnd(turn);
      const { state } = exit;
      const restart = await this.#change();
      input = { ...input, state: restart ? freshState(input.opening, state.usage) : state };
    }
  }

  /** The swap that waits, when its endpoints can be reached from here; what cannot is rejected at once. */
  #usableSwap(): SwapIntel | undefined {
    const swap = this.#options.control.inbox?.takeSwap();
    if (swap === undefined) return undefined;
    const { next, report } = swapIntel(this.#intelligence, swap);
    if (report.event === "intel.swap.reject") return this.#reject(report.fields.reason);
    const isWithin = modelNetwork(next, this.#options.proxy).ports.every((port) => this.#options.ports.includes(port));
    if (isWithin && next.dialect !== "scripted") return swap;
    return this.#reject("its port is none that the walls of this session allow");
  }

  #reject(reason: string): undefined {
    this.#options.control.say({ type: "event", event: "intel.swap.reject", fields: { reason } });
    return undefined;
  }

  /** Takes the model that was swapped in; whether the turn is to run again because of it. */
  async #change(): Promise<boolean> {
    const { next, report } = swapIntel(this.#intelligence, this.#swap!);
    const before = this.#intelligence;
    this.#intelligence = next;
    try {
      await this.#open();
    } catch (error) {
      this.#intelligence = before;
      await this.#open();
      this.#reject(errorCodeOf(error) ?? "it cannot be opened");
      return false;
    }
    if (this.#allDown) this.#tellHealth({ all_down: false });
    this.#options.control.say({ type: "event", event: report.event, fields: report.fields });
    return report.event === "intel.swap" && report.fields.restart;
  }

  async #open(): Promise<void> {
    const { caCerts, proxy } = this.#options;
    this.#close();
    this.#worker = await LoopWorker.open({
      intelligence: this.#intelligence,
      caCerts,
      ...(proxy === undefined ? {} : { proxy }),
      net: modelNetwork(this.#intelligence, proxy).net,
      onHealth: (health) => this.#tellHealth(health),
    });
  }

  #tellHealth({ all_down, active }: ModelHealth): void {
    this.#allDown = all_down;
    this.#options.control.say({ type: "intel_health", all_down, ...(active === undefined ? {} : { active }) });
  }

  #close(): void {
    this.#worker?.[Symbol.dispose]();
    this.#worker = undefined;
  }

  /** The end of a turn whose thread is gone, and with it what the turn had said. */
  #lostEnd({ input, follower, signal }: MindTurn): TurnEnd {
    const { usage, rounds } = follower.spent;
    const isLate = signal.reason === "deadline";
    return {
      status: isLate ? "deadline" : "cancelled",
      messages: sealTranscript(input.opening, { content: "", ts: 0 }),
      usage,
      rounds,
      tool_calls: 0,
      ...(isLate ? { reason: "the deadline passed" } : {}),
    };
  }
}
