import { CapsuleError, type ErrorCode, EXIT_STATUS, workerPermissions } from "../../base/mod.ts";
import type { ToolCall } from "../../protocol/control/mod.ts";
import type { BudgetReply, LoopEvent, TurnEnd, TurnState } from "../loop/mod.ts";
import type { CallAnswer, FromLoop, LoopAsk, OpenModel, ThreadTurn, ToLoop } from "./loop_messages.ts";
import type { ModelHealth } from "../model/mod.ts";

/** What the executable's loader gives every script (`.ci/script_loader.ts`). */
declare const BOLL_BUNDLE: { readPack(entry: string): Uint8Array<ArrayBuffer> };

const ENTRY = Deno.build.standalone ? "./loop.js" : "./loop_main.ts";

/** How long a turn that was told to end may take to say how it ended, ms: its thread may be busy with a hostile schema. */
const LAST_WORD_MS = 500;

/** What the loop asks of whoever runs a turn. */
export interface TurnHooks {
  /** Settles when the turn may go on behind a boundary: here, or elsewhere. */
  boundary(): Promise<"go" | "leave">;
  /** Rejects only for a bug. */
  call(call: ToolCall, signal: AbortSignal): Promise<CallAnswer>;
  budget(estimate: number): Promise<BudgetReply>;
  outcomes(): Promise<string>;
  onEvent(event: LoopEvent): void;
  /** Ends the turn. */
  readonly signal: AbortSignal;
}

/** How a turn left its thread: it ended, it goes on elsewhere, or its thread was too busy to say. */
export type TurnExit =
  | { readonly kind: "ended"; readonly end: TurnEnd }
  | { readonly kind: "left"; readonly state: TurnState }
  | { readonly kind: "lost" };

/** Options of {@link LoopWorker.open}. */
export interface LoopWorkerOptions extends OpenModel {
  /** `host:port` of all that the thread may reach. */
  readonly net: readonly string[];
  onHealth(health: ModelHealth): void;
}

/** The loop's thread, seen from the session's main one. */
export class LoopWorker implements Disposable {
  readonly #worker: Worker;
  readonly #failure: Promise<never>;
  readonly #calls = new Map<number, AbortController>();
  #hear: (message: FromLoop) => void = () => {};
  #onHealth: (health: ModelHealth) => void = () => {};
  #isAlive = true;

  private constructor(net: readonly string[]) {
    this.#worker = new Worker(new URL(ENTRY, import.meta.url), {
      type: "module",
      name: "loop",
      deno: { permissions: workerPermissions({ net }) },
    });
    this.#worker.onmessage = ({ data }: MessageEvent<FromLoop>) => this.#hear(data);
    this.#failure = new Promise((_, reject) => {
      this.#worker.onerror = (event) => {
        event.preventDefault();
        this.#isAlive = false;
        reject(new Error(`The loop's thread died: ${event.message}`));
      };
    });
    this.#failure.catch(() => {});
    if (!Deno.build.standalone) return;
    const pack = BOLL_BUNDLE.readPack(ENTRY);
    this.#worker.postMessage(pack, [pack.buffer]);
  }

  /** Starts the thread and opens its model. @throws `model.*` */
  static async open({ net, onHealth, intelligence, caCerts, proxy }: LoopWorkerOptions): Promise<LoopWorker> {
    const worker = new LoopWorker(net);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    worker.#hear = (message) => {
      if (message.kind === "up") {
        worker.#post({ kind: "open", intelligence, caCerts, ...(proxy === undefined ? {} : { proxy }) });
      } else if (message.kind === "refused") reject(new CapsuleError(codeOf(message.code), message.message));
      else if (message.kind === "opened") resolve();
    };
    try {
      await Promise.race([promise, worker.#failure]);
    } catch (error) {
      worker[Symbol.dispose]();
      throw error;
    }
    worker.#onHealth = onHealth;
    worker.#hearBetweenTurns();
    return worker;
  }

  /** Whether it can run a turn: a thread may die of a bug between two. */
  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Runs a turn. After any exit but an end the thread is of no more use. @throws when the thread dies of a bug */
  async run(turn: ThreadTurn, hooks: TurnHooks): Promise<TurnExit> {
    const { promise, resolve, reject } = Promise.withResolvers<TurnExit>();
    this.#hear = (message) => {
      if (message.kind === "health") this.#onHealth(message.health);
      else if (message.kind === "event") hooks.onEvent(message.event);
      else if (message.kind === "ended" || message.kind === "left") resolve(message);
      else if (message.kind === "forget") this.#calls.get(message.id)?.abort("forgotten");
      else if (message.kind === "ask") this.#answer(message.id, message.asked, hooks).catch(reject);
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = () => {
      this.#post({ kind: "end", reason: String(hooks.signal.reason) });
      timer = setTimeout(() => resolve({ kind: "lost" }), LAST_WORD_MS);
    };
    this.#post({ kind: "turn", ...turn });
    if (hooks.signal.aborted) end();
    else hooks.signal.addEventListener("abort", end);
    try {
      return await Promise.race([promise, this.#failure]);
    } finally {
      clearTimeout(timer);
      hooks.signal.removeEventListener("abort", end);
      for (const call of this.#calls.values()) call.abort("the turn is over");
      this.#calls.clear();
      this.#hearBetweenTurns();
    }
  }

  #hearBetweenTurns(): void {
    this.#hear = (message) => {
      if (message.kind === "health") this.#onHealth(message.health);
    };
  }

  [Symbol.dispose](): void {
    this.#worker.terminate();
  }

  async #answer(id: number, { what, ask }: LoopAsk, hooks: TurnHooks): Promise<void> {
    if (what !== "call") {
      const answer = what === "boundary"
        ? await hooks.boundary()
        : what === "budget"
        ? await hooks.budget(ask)
        : await hooks.outcomes();
      return this.#post({ kind: "answer", id, answer });
    }
    const stop = new AbortController();
    this.#calls.set(id, stop);
    const answer = await hooks.call(ask, AbortSignal.any([stop.signal, hooks.signal]));
    this.#calls.delete(id);
    this.#post({ kind: "answer", id, answer });
  }

  #post(message: ToLoop): void {
    this.#worker.postMessage(message);
  }
}

function codeOf(code: string): ErrorCode {
  return Object.hasOwn(EXIT_STATUS, code) ? code as ErrorCode : "internal";
}
