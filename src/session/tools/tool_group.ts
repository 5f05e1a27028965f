import { callsAtOnce, type Grants } from "../../grants/mod.ts";
import type { CallFailure } from "../http/http_call.ts";
import { type CellLoss, ServingCell } from "../cell/serving_cell.ts";
import { CallClock } from "./call_clock.ts";
import type { ToolCall } from "./tool_call.ts";

/** What {@link ToolGroup} is made of. */
export interface ToolGroupOptions {
  readonly limits: Grants["limits"];
  start(): Promise<ServingCell<ToolCall>>;
  /** Told of each cell that is gone and was not stopped, with how many calls it took along. */
  onLost(reason: string, calls: number): void;
}

/**
 * The tools of one set of grants: one cell, started when a call needs it and again when it is lost. What a lost cell had
 * and may run twice does so, once, unless it was alone in there.
 */
export class ToolGroup implements AsyncDisposable {
  readonly #options: ToolGroupOptions;
  readonly #waiting: PromiseWithResolvers<void>[] = [];
  readonly #calls = new Set<ToolCall>();
  /** Cells that are not gone yet. */
  readonly #living = new Set<ServingCell<ToolCall>>();
  /** Calls that are being given up: until it is known whether their cell lives, none is put beside them. */
  readonly #expiring = new Set<Promise<void>>();
  #starting: Promise<ServingCell<ToolCall>> | undefined;
  #cell: ServingCell<ToolCall> | undefined;
  #places: number;
  #isClosed = false;

  constructor(options: ToolGroupOptions) {
    this.#options = options;
    this.#places = callsAtOnce(options.limits);
  }

  /** Works on a call until it is over; what becomes of it, it says itself. Never rejects. */
  async run(call: ToolCall, signal: AbortSignal): Promise<void> {
    const abort = () => this.#abandon(call);
    this.#calls.add(call);
    signal.addEventListener("abort", abort);
    try {
      if (signal.aborted) return abort();
      await this.#takePlace(call);
    } finally {
      if (call.isOver) this.#leave(call, signal, abort);
      else call.over.then(() => this.#leave(call, signal, abort));
    }
    await call.end;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const call of this.#calls) call.finish(CLOSED);
    await this.#starting?.catch(() => {});
    for (const cell of this.#living) cell.kill("stopped");
    await Promise.all([...this.#living].map(({ lost }) => lost));
  }

  async #takePlace(call: ToolCall): Promise<void> {
    if (this.#places > 0) this.#places--;
    else {
      const place = Promise.withResolvers<void>();
      this.#waiting.push(place);
      await Promise.race([place.promise, call.over]);
      const at = this.#waiting.indexOf(place);
      if (at >= 0) return void this.#waiting.splice(at, 1); // given up while it waited
    }
    call.over.then(() => this.#freePlace());
    await this.#place(call);
  }

  #freePlace(): void {
    // Processor time is counted for a process: each call has one of its own then.
    if (this.#options.limits.cpu_seconds !== undefined) this.#retire();
    const next = this.#waiting.shift();
    if (next === undefined) this.#places++;
    else next.resolve();
  }

  #retire(): void {
    this.#cell?.kill("stopped");
    this.#cell = undefined;
    this.#starting = undefined;
  }

  #leave(call: ToolCall, signal: AbortSignal, abort: () => void): void {
    this.#calls.delete(call);
    signal.removeEventListener("abort", abort);
  }

  async #place(call: ToolCall): Promise<void> {
    while (!call.isOver) {
      if (this.#expiring.size > 0) {
        await Promise.race([call.over, Promise.all(this.#expiring)]);
        continue;
      }
      let cell: ServingCell<ToolCall>;
      try {
        cell = await this.#live();
      } catch (error) {
        return call.finish({ failed: "overloaded", detail: error instanceof Error ? error.message : String(error) });
      }
      if (call.isOver) return;
      if (cell !== this.#cell || this.#expiring.size > 0) continue; // it was lost meanwhile, or may be
      call.clock = new CallClock(call.input.deadlineMs, () => this.#expire(cell, call, timeoutOf(call)));
      return cell.open(call);
    }
  }

  #live(): Promise<ServingCell<ToolCall>> {
    if (this.#isClosed) return Promise.reject(new Error(CLOSED.detail));
    if (this.#starting !== undefined) return this.#starting;
    const starting = this.#options.start();
    this.#starting = starting;
    starting.then((cell) => {
      this.#living.add(cell);
      cell.lost.then(() => this.#living.delete(cell));
      if (this.#isClosed || this.#starting !== starting) return cell.kill("stopped");
      this.#cell = cell;
      cell.lost.then((loss) => this.#lose(cell, loss));
    }, () => {
      if (this.#starting === starting) this.#starting = undefined;
    });
    return starting;
  }

  #lose(cell: ServingCell<ToolCall>, loss: CellLoss): void {
    if (this.#cell === cell) this.#cell = this.#starting = undefined;
    // What ends a cell by itself was done by whoever had its thread; what it says wrong may be anybody's.
    const culprit = loss.fault === undefined ? cell.running : undefined;
    const calls = cell.takeCalls();
    if (!this.#isClosed && loss.killedFor !== "stopped") this.#options.onLost(describeLoss(loss), calls.length);
    for (const call of calls) {
      // Ended for the sake of one, the others did nothing; and who was alone did it, if it had begun.
      const isInnocent = loss.killedFor === "deadline" || (call !== culprit && (calls.length > 1 || !call.hasBegun));
      if (!this.#isClosed && isInnocent && call.isRerunnable) void this.#place(call);
      else call.finish(this.#isClosed ? CLOSED : failureOf(loss, isInnocent));
    }
  }

  #abandon(call: ToolCall): void {
    if (this.#cell?.has(call)) this.#expire(this.#cell, call, CANCELLED);
    else call.finish(CANCELLED);
  }

  #expire(cell: ServingCell<ToolCall>, call: ToolCall, failure: CallFailure): void {
    const expiring = cell.expire(call, failure).then((isEnded) => {
      this.#expiring.delete(expiring);
      if (isEnded && this.#cell === cell) this.#cell = this.#starting = undefined;
    });
    this.#expiring.add(expiring);
  }
}

function timeoutOf({ input }: ToolCall): CallFailure {
  return { failed: "deadline", detail: `not done within ${input.deadlineMs} ms` };
}

const CANCELLED: CallFailure = { failed: "cancelled", detail: "the call was given up" };
const CLOSED: CallFailure = { failed: "draining", detail: "the session is ending" };

/** At its barrier the engine ends itself; of processor time the kernel tells. */
function failureOf(loss: CellLoss, isInnocent: boolean): CallFailure {
  const { signal } = loss.exit;
  if (loss.killedFor === undefined && loss.fault === undefined) {
    if (signal === "SIGABRT" || signal === "SIGTRAP") {
      return { failed: "memory", detail: "its cell ended at its memory barrier" };
    }
    if (signal === "SIGXCPU") return { failed: "limit", detail: "cpu" };
  }
  const whose = isInnocent ? "its cell was lost with another call" : "its cell was lost";
  return { failed: "cell_lost", detail: `${whose}: it is not known how far it came` };
}

function describeLoss({ exit, fault, killedFor, stderr }: CellLoss): string {
  if (killedFor === "deadline") return "a tool did not let go of a call that was given up";
  if (fault !== undefined) return fault.message;
  const tail = stderr.trim().split("\n").at(-1) ?? "";
  return `ended with ${exit.signal ?? `code ${exit.code}`}${tail === "" ? "" : `: ${tail}`}`;
}
