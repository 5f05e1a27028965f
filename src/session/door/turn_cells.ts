import type { RunLoad } from "../../protocol/mod.ts";
import { removeTrees, type SessionPaths } from "../../records/mod.ts";
import { type CellRun, openNetwork } from "../cell/run_cell.ts";
import type { RunNetwork } from "../network/run_network.ts";
import { TurnSeat } from "./turn_seat.ts";

/** What all turns of a session have in common. */
export interface TurnRun extends Pick<CellRun, "plan" | "component" | "envValues" | "trace" | "upstream"> {
  readonly kernel: RunLoad["kernel"];
  readonly places: Pick<SessionPaths, "root" | "runtime" | "work" | "out">;
  /** Where the folders of cells are made. */
  readonly tmp: string;
  /** The operator's folder is the work folder of every turn; else each turn has a fresh one. */
  readonly sharesWork: boolean;
}

/**
 * The cells of a warm session, one for each turn, under one hull and behind one gate. The next one is started before its
 * turn comes, and waits behind its walls: most of what a turn costs is the start of its cell.
 */
export class TurnCells implements AsyncDisposable {
  readonly #run: TurnRun;
  readonly #removals = new Set<Promise<unknown>>();
  #network: RunNetwork | undefined;
  /** Whose guest the gate's refusals are of. */
  #current: TurnSeat | undefined;
  #spare: TurnSeat | undefined;
  #seats = 0;
  #isClosed = false;

  private constructor(run: TurnRun) {
    this.#run = run;
  }

  /** Opens the gate, when there is a network: before this process confines itself. */
  static async open(run: TurnRun): Promise<TurnCells> {
    const cells = new TurnCells(run);
    cells.#network = await openNetwork(run, (denied) => cells.#current?.denials.tell(denied));
    return cells;
  }

  /** For the ceiling of this process. */
  get network(): RunNetwork["supervisor"] | undefined {
    return this.#network?.supervisor;
  }

  /** Starts the cell of the next turn. Quiet when it cannot: the turn then tries again, and says so. */
  prepare(): void {
    if (this.#isClosed || this.#spare?.isAlive) return;
    this.#drop();
    try {
      this.#spare = this.#start();
    } catch { /* the disk may be full, and not be when the turn comes */ }
  }

  /** The place of this turn; the next one's cell is started beside it. @throws `runtime.unusable`, `home.unwritable` */
  seat(): TurnSeat {
    const spare = this.#spare?.isAlive ? this.#spare : undefined;
    if (spare === undefined) this.#drop();
    this.#spare = undefined;
    const seat = spare ?? this.#start();
    this.#current = seat;
    return seat;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#drop();
    await Promise.all(this.#removals);
    await this.#network?.[Symbol.asyncDispose]();
  }

  #start(): TurnSeat {
    const work = this.#makeWork();
    const leave = () => this.#remove(work);
    try {
      return TurnSeat.start({ run: this.#run, network: this.#network, work, leave });
    } catch (error) {
      leave();
      throw error;
    }
  }

  #drop(): void {
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare !== undefined) this.#track(spare[Symbol.asyncDispose]());
  }

  #makeWork(): string {
    const { sharesWork, places } = this.#run;
    if (sharesWork) return places.work;
    const work = `${places.work}/${++this.#seats}`;
    Deno.mkdirSync(work, { mode: 0o700 });
    return work;
  }

  /** A guest may have made a million files: nobody waits for that. */
  #remove(work: string): void {
    if (!this.#run.sharesWork) this.#track(removeTrees([work]));
  }

  #track(ending: Promise<unknown>): void {
    const tracked = ending.catch(() => {}).finally(() => this.#removals.delete(tracked));
    this.#removals.add(tracked);
  }
}
