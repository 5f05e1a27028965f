import type { CallFailure, HttpCall } from "./http_call.ts";
import type { CellLoss } from "../cell/serving_cell.ts";

/** A cell, as a pool sees it. */
export interface PooledCell {
  /** Calls under way, and calls that came to their end. */
  readonly load: number;
  readonly served: number;
  /** Settles when it is gone. */
  readonly lost: Promise<CellLoss>;
  /** Called whenever a call has ended here. */
  set onFree(onFree: () => void);
  open(call: HttpCall): void;
  /** Gives up a call whose time is over. */
  expire(call: HttpCall): Promise<unknown>;
  kill(reason: "deadline" | "stopped"): void;
  /** The calls that it had when it was lost. */
  takeCalls(): HttpCall[];
}

/** What a pool is made of. */
export interface CellPoolOptions {
  readonly cells: number;
  /** Requests that one cell works on at once. */
  readonly concurrency: number;
  /** Requests that wait when every cell is full; the next one is refused. */
  readonly queue: number;
  /** How long a request may take, from when it came to when its response is whole, ms. */
  readonly deadlineMs: number;
  start(): Promise<PooledCell>;
  /** Told of each cell that is gone and was not stopped, with how many calls it took along. */
  onLost(loss: CellLoss, calls: number): void;
  /** Told when a replacement could not be started. */
  onStartFailed(error: unknown): void;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;

interface Waiting {
  readonly call: HttpCall;
  cell?: PooledCell;
}

/**
 * So many cells, each replaced when it is lost; every call goes to the one with the least to do, waits when all are
 * full, and is refused when too many wait. What a lost cell had and may be run again is, once, before all that waits.
 */
export class CellPool {
  readonly #options: CellPoolOptions;
  readonly #cells = new Set<PooledCell>();
  readonly #queue: Waiting[] = [];
  readonly #inFlight = new Map<HttpCall, Waiting>();
  #failuresInRow = 0;
  #isClosed = false;
  readonly #stopPause = new AbortController();
  readonly #replacing = new Set<Promise<void>>();

  constructor(options: CellPoolOptions) {
    this.#options = options;
  }

  /** Starts all cells; settles when each takes calls. @throws what the first one that failed said */
  async open(): Promise<void> {
    const started = await Promise.allSettled(Array.from({ length: this.#options.cells }, () => this.#options.start()));
    for (const one of started) if (one.status === "fulfilled") this.#add(one.value);
    const failed = started.find((one) => one.status === "rejected");
    if (failed === undefined) return;
    await this.close();
    throw failed.reason;
  }

  /** The cells that live now. */
  get alive(): number {
    return this.#cells.size;
  }

  /** Takes a call, or refuses it at once; a call that was taken is over within its deadline (and a moment). */
  submit(call: HttpCall): void {
    const free = this.#freest();
    if (this.#isClosed || (free === undefined && this.#queue.length >= this.#options.queue)) {
      return call.finish({ failed: "overloaded", detail: "too many requests wait" });
    }
    const waiting: Waiting = { call };
    const timer = setTimeout(() => this.#expire(waiting), this.#options.deadlineMs);
    call.over.then(() => {
      clearTimeout(timer);
      this.#forget(waiting);
    });
    this.#place(waiting, free);
  }

  /** Ends every cell and every call. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopPause.abort();
    const cells = [...this.#cells];
    for (const cell of cells) cell.kill("stopped");
    for (const { call } of this.#queue.splice(0)) call.finish(STOPPED);
    await Promise.all([...cells.map(({ lost }) => lost), ...this.#replacing]);
  }

  #place(waiting: Waiting, free: PooledCell | undefined): void {
    if (free === undefined) return void this.#queue.push(waiting);
    waiting.cell = free;
    free.open(waiting.call);
    this.#inFlight.set(waiting.call, waiting);
  }

  /** A call that ended while it waited (its client went) gives its place away. */
  #forget(waiting: Waiting): void {
    this.#inFlight.delete(waiting.call);
    const at = this.#queue.indexOf(waiting);
    if (at >= 0) this.#queue.splice(at, 1);
  }

  #freest(): PooledCell | undefined {
    let freest: PooledCell | undefined;
    for (const cell of this.#cells) {
      if (cell.load < this.#options.concurrency && (freest === undefined || cell.load < freest.load)) freest = cell;
    }
    return freest;
  }

  #expire(waiting: Waiting): void {
    if (waiting.cell !== undefined) return void waiting.cell.expire(waiting.call);
    waiting.call.finish({ failed: "overloaded", detail: "no cell was free before the request's deadline" });
  }

  #serveQueue(): void {
    for (let free = this.#freest(); free !== undefined && this.#queue.length > 0; free = this.#freest()) {
      const waiting = this.#queue.shift()!;
      if (!waiting.call.isOver) this.#place(waiting, free);
    }
  }

  #add(cell: PooledCell): void {
    this.#cells.add(cell);
    cell.onFree = () => {
      this.#failuresInRow = 0;
      this.#serveQueue();
    };
    cell.lost.then((loss) => this.#lose(cell, loss));
    this.#serveQueue();
  }

  #lose(cell: PooledCell, loss: CellLoss): void {
    this.#cells.delete(cell);
    const calls = cell.takeCalls();
    if (!this.#isClosed) this.#options.onLost(loss, calls.length);
    for (const call of calls) {
      const waiting = this.#inFlight.get(call);
      if (waiting !== undefined && call.isRerunnable && !this.#isClosed) {
        this.#inFlight.delete(call);
        delete waiting.cell;
        this.#queue.unshift(waiting);
      } else call.finish(this.#isClosed ? STOPPED : LOST);
    }
    if (this.#isClosed) return;
    if (cell.served === 0) this.#failuresInRow++;
    this.#serveQueue();
    this.#replace();
  }

  #replace(): void {
    const replacing = this.#startAgain().finally(() => this.#replacing.delete(replacing));
    this.#replacing.add(replacing);
  }

  async #startAgain(): Promise<void> {
    while (!this.#isClosed) {
      await this.#pause();
      if (this.#isClosed) return;
      try {
        const cell = await this.#options.start();
        if (!this.#isClosed) return this.#add(cell);
        cell.kill("stopped");
        return void await cell.lost;
      } catch (error) {
        this.#failuresInRow++;
        if (!this.#isClosed) this.#options.onStartFailed(error);
      }
    }
  }

  /** The first loss is made good at once; from the second in a row on, later and later. */
  async #pause(): Promise<void> {
    if (this.#failuresInRow < 2) return;
    const ms = Math.min(FIRST_PAUSE_MS * 2 ** (this.#failuresInRow - 2), LONGEST_PAUSE_MS);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#stopPause.signal.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve();
      }, { once: true });
    });
  }
}

const LOST: CallFailure = { failed: "cell_lost", detail: "the cell was lost" };
const STOPPED: CallFailure = { failed: "draining", detail: "the service is going down" };
