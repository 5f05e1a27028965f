import type { DelegateRefusal, RunLoad } from "../../protocol/mod.ts";
import { makeTemporaryFolder, type TemporaryFolder } from "../../records/mod.ts";
import { type CapturedCell, spawnCapturedCell } from "../../supervisor/mod.ts";
import { makeGuestLoad } from "../cell/guest_load.ts";
import type { CapturedRun, Lead } from "../cell/run_captured.ts";
import { cellLaunch, type CellRun, runLoaded } from "../cell/run_cell.ts";
import type { RunNetwork } from "../network/run_network.ts";
import type { TurnRun } from "./turn_cells.ts";
import { type CellResult, DenialLimit } from "../cell/watch_cell.ts";

/** What a seat is made of. */
export interface TurnSeatOptions {
  readonly run: TurnRun;
  readonly network: RunNetwork | undefined;
  /** The guest's folder. */
  readonly work: string;
  /** Called when the cell is gone. */
  leave(): void;
}

/** One turn's cell and folders, from before there is a turn. Its guest is called when one takes the seat. */
export class TurnSeat implements AsyncDisposable {
  readonly work: string;
  readonly denials: DenialLimit;
  readonly #options: TurnSeatOptions;
  readonly #tmp: TemporaryFolder;
  readonly #stop = new AbortController();
  readonly #taken = Promise.withResolvers<void>();
  readonly #captured = Promise.withResolvers<CapturedCell>();
  #result: Promise<CellResult> | undefined;
  #turn: CapturedRun | undefined;
  #isOver = false;

  private constructor(options: TurnSeatOptions) {
    this.#options = options;
    this.work = options.work;
    this.denials = new DenialLimit({ onDenied: (denied) => this.#turn?.onDenied?.(denied) });
    this.#tmp = makeTemporaryFolder(options.run.tmp);
    this.#captured.promise.catch(() => {});
  }

  /** Starts the cell. @throws `runtime.unusable` */
  static start(options: TurnSeatOptions): TurnSeat {
    const seat = new TurnSeat(options);
    seat.#result = seat.#run();
    seat.#result.then(() => seat.#isOver = true, () => seat.#isOver = true);
    return seat;
  }

  /** Whether its cell can still be taken. */
  get isAlive(): boolean {
    return !this.#isOver;
  }

  /** Runs a turn in this seat, once. */
  readonly lead: Lead = async (turn, take) => {
    this.#turn = turn;
    const { interrupt } = turn;
    const stop = () => this.#stop.abort(interrupt.reason);
    if (interrupt.aborted) stop();
    else interrupt.addEventListener("abort", stop);
    try {
      // Should it never start, the result says why.
      const captured = await Promise.race([this.#captured.promise, this.#result!.then(() => undefined)]);
      if (captured !== undefined) take(captured);
      this.#taken.resolve();
      return await this.#result!;
    } finally {
      interrupt.removeEventListener("abort", stop);
    }
  };

  /** Ends the cell if it lives; settles when it is gone, and what was its own removed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort("interrupted");
    await this.#result?.catch(() => {});
    if (this.#turn === undefined) {
      const { stdin, stdout, stderr } = await this.#captured.promise.catch(() => NO_STREAMS);
      await Promise.allSettled([stdin?.abort(), stdout?.cancel(), stderr?.cancel()]);
    }
    this.#tmp.remove();
    this.#options.leave();
  }

  async #run(): Promise<CellResult> {
    const { run, network, work } = this.#options;
    const places = { ...run.places, work };
    const load: RunLoad = {
      ...makeGuestLoad({ ...run, places }, this.#tmp.path, network),
      kind: "run",
      terminal: [false, false, false],
    };
    try {
      return await runLoaded({ run: this.#cellRun(places), load, network, denials: this.denials }, async () => {
        const captured = await spawnCapturedCell(cellLaunch(run, load, network));
        this.#captured.resolve(captured);
        return captured.cell;
      });
    } catch (error) {
      this.#captured.reject(error);
      throw error;
    }
  }

  /** The run of a turn that is not known yet: what it is asked is asked of whoever takes the seat. */
  #cellRun(places: CellRun["places"]): CellRun {
    const turn = () => this.#turn;
    return {
      ...this.#options.run,
      places,
      interrupt: this.#stop.signal,
      taken: this.#taken.promise,
      pause: {
        enter: async (cell) => await turn()?.pause?.enter(cell),
      },
      delegator: {
        start: async (call) => await turn()?.delegator?.start(call) ?? NOBODY,
        ended: async (id) => await turn()!.delegator!.ended(id),
      },
    };
  }
}

const NOBODY: DelegateRefusal = { kind: "refused", message: "Delegate: this run may delegate to nobody" };

const NO_STREAMS = { stdin: undefined, stdout: undefined, stderr: undefined };
