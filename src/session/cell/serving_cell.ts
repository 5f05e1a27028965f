import { CapsuleError, errorCodeOf } from "../../base/mod.ts";
import {
  type CellWalls,
  decodeFromCell,
  type FromCell,
  type ServeLoad,
  type ToCell,
  type ToolsLoad,
} from "../../protocol/mod.ts";
import type { TemporaryFolder } from "../../records/mod.ts";
import { type CellProcess, type ChildExit, spawnServingCell } from "../../supervisor/mod.ts";
import type { CallFailure, HttpCall } from "../http/http_call.ts";
import { cellEnvironment, type SelfCommand } from "../self_command.ts";

/** Whose turn it is in a cell's one thread, seen from a call: its own, another's, or nobody's as far as is known. */
export type CallTurn = "own" | "other" | "none";

/** A call, as its cell sees it. */
export interface CellCall {
  /** Settles when it is over on all sides. */
  readonly over: Promise<unknown>;
  /** Hands it to a cell, under a number that is this cell's alone. */
  start(id: number, send: (message: ToCell) => void): void;
  /** Takes what the cell says of it. @throws `protocol.*` */
  receive(message: FromCell): void;
  /** Told whose turn it is, where cells tell it. */
  takeTurn?(turn: CallTurn): void;
  /** Asks the cell to give it up. */
  cancel(): void;
  /** Answers with a failure now, while the cell may still be busy with it. */
  settle(failure: CallFailure): void;
  /** Says that it is over; the first word counts. */
  finish(failure: CallFailure | undefined): void;
}

/** How a serving cell is started. */
export interface ServingCellOptions<Call extends CellCall = HttpCall> {
  readonly tmp: TemporaryFolder;
  readonly own: SelfCommand;
  readonly load: ServeLoad | ToolsLoad;
  /** Looks at what the cell raised; throws when that is not enough. */
  checkWalls(walls: CellWalls): void;
  /** Told of `denied`, `log` and `host_call`. */
  onMessage(message: FromCell, cell: ServingCell<Call>): void;
}

/** Why a cell is gone. */
export interface CellLoss {
  readonly exit: ChildExit;
  /** It broke the protocol, or said that it could not go on. */
  readonly fault?: CapsuleError;
  /** Why this process ended it. */
  readonly killedFor?: "deadline" | "stopped";
  readonly stderr: string;
}

/** How long a cell may take from its first frame to `ready`, ms. */
const READY_TIMEOUT_MS = 30_000;

/** How long a call may go on behind its `cancel` at the deadline before its cell is ended, ms. */
const CANCEL_GRACE_MS = 500;

/** One living cell and the calls in it. */
export class ServingCell<Call extends CellCall = HttpCall> {
  /** Settles when the process is gone and every call in it was told. */
  readonly lost: Promise<CellLoss>;
  readonly #process: CellProcess;
  readonly #options: ServingCellOptions<Call>;
  readonly #calls = new Map<number, Call>();
  readonly #ready = Promise.withResolvers<void>();
  #isReady = false;
  /** The call that has the cell's thread, as far as it has told. */
  #running: Call | undefined;
  #nextId = 1;
  #killedFor: CellLoss["killedFor"];
  /** Calls that came to their end here. */
  #served = 0;
  #onFree: () => void = () => {};

  private constructor(process: CellProcess, options: ServingCellOptions<Call>) {
    this.#process = process;
    this.#options = options;
    this.#ready.promise.catch(() => {});
    this.lost = this.#live();
  }

  /** Starts a cell; settles when it takes calls. @throws `cell.start_failed`, `hull.failed` */
  static async start<Call extends CellCall = HttpCall>(
    options: ServingCellOptions<Call>,
  ): Promise<ServingCell<Call>> {
    const { own, tmp } = options;
    const environment = cellEnvironment(tmp.path, own);
    const process = await spawnServingCell({ program: own.program, args: own.args, env: environment, tmp: tmp.path });
    const cell = new ServingCell(process, options);
    const timer = setTimeout(() => {
      cell.#ready.reject(new CapsuleError("cell.start_failed", "Start a cell: it was never ready"));
    }, READY_TIMEOUT_MS);
    try {
      await process.send(options.load);
      await cell.#ready.promise;
      return cell;
    } catch (error) {
      cell.kill("stopped");
      await cell.lost;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Calls under way. */
  get load(): number {
    return this.#calls.size;
  }

  get served(): number {
    return this.#served;
  }

  /** Called whenever a call has ended here. */
  set onFree(onFree: () => void) {
    this.#onFree = onFree;
  }

  /** Hands a call to the cell. */
  open(call: Call): void {
    const id = this.#nextId++;
    this.#calls.set(id, call);
    call.start(id, (message) => void this.#process.send(message));
    call.takeTurn?.(this.#turnOf(call));
    call.over.then(() => {
      if (this.#calls.get(id) !== call) return;
      this.#calls.delete(id);
      if (this.#running === call) this.#giveTurn(undefined);
      this.#served++;
      this.#onFree();
    });
  }

  /** The call that has the thread, as far as the cell has told. */
  get running(): Call | undefined {
    return this.#running;
  }

  /** Whether the call is under way here. */
  has(call: Call): boolean {
    return this.#calls.values().some((one) => one === call);
  }

  /** The call of that number, while it is under way. */
  callOf(id: number): Call | undefined {
    return this.#calls.get(id);
  }

  /** Sends the answer to a `host_call`, or what comes of it later. */
  answer(message: Extract<ToCell, { readonly type: "host_result" | "delegation_end" }>): void {
    this.#process.send(message);
  }

  /**
   * Gives up a call whose time is over: at once when its guest waits, with the whole cell when it does not let go. Where
   * another call has the thread, that one's time decides. Says whether the cell was ended.
   */
  async expire(call: Call, failure: CallFailure = DEADLINE): Promise<boolean> {
    call.settle(failure);
    call.cancel();
    // The whole of it, from when the thread is its own or nobody's.
    for (let isOthers = true; isOthers;) {
      isOthers = this.#turnOf(call) === "other";
      if (await isOverWithin(call, CANCEL_GRACE_MS)) return false;
      isOthers ||= this.#turnOf(call) === "other";
    }
    call.finish(failure);
    this.kill("deadline");
    return true;
  }

  /** Ends the process at once. */
  kill(reason: "deadline" | "stopped"): void {
    this.#killedFor ??= reason;
    this.#process.kill();
  }

  async #live(): Promise<CellLoss> {
    let fault: CapsuleError | undefined;
    try {
      for await (const frame of this.#process.receive()) this.#take(decodeFromCell(frame));
    } catch (error) {
      const code = errorCodeOf(error) ?? "internal";
      fault = error instanceof CapsuleError ? error : new CapsuleError(code, String(error), { cause: error });
      this.#process.kill();
    }
    const exit = await this.#process.exit;
    await this.#process[Symbol.asyncDispose]();
    this.#options.tmp.remove();
    const stderr = this.#process.stderrTail();
    const how = exit.signal ?? `code ${exit.code}`;
    this.#ready.reject(fault ?? new CapsuleError("cell.start_failed", `Start a cell: it ended with ${how}`));
    const killedFor = this.#killedFor;
    return {
      exit,
      stderr,
      ...(fault === undefined ? {} : { fault }),
      ...(killedFor === undefined ? {} : { killedFor }),
    };
  }

  /** The calls that a lost cell had, for whoever runs them again or says that they failed. */
  takeCalls(): Call[] {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    return calls;
  }

  #turnOf(call: Call): CallTurn {
    if (this.#running === undefined) return "none";
    return this.#running === call ? "own" : "other";
  }

  #giveTurn(running: Call | undefined): void {
    this.#running = running;
    for (const call of this.#calls.values()) call.takeTurn?.(this.#turnOf(call));
  }

  #take(message: FromCell | undefined): void {
    switch (message?.type) {
      case "ready":
        // Once: what its guest forges later changes no record.
        if (this.#isReady) break;
        this.#isReady = true;
        this.#options.checkWalls(message.walls);
        this.#ready.resolve();
        break;
      case "head":
      case "chunk":
      case "credit":
      case "done":
        this.#calls.get(message.id)?.receive(message);
        break;
      case "running":
        this.#giveTurn(this.#calls.get(message.id));
        break;
      case "failed":
        throw new CapsuleError("cell.start_failed", `Start a cell: ${message.message}`);
      case "denied":
      case "log":
      case "host_call":
        this.#options.onMessage(message, this);
        break;
    }
  }
}

/** Whether the call is over before so much time has passed. */
async function isOverWithin(call: CellCall, ms: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) => timer = setTimeout(() => resolve("late"), ms));
  const first = await Promise.race([call.over, late]);
  clearTimeout(timer);
  return first !== "late";
}

const DEADLINE: CallFailure = { failed: "deadline", detail: "the request's deadline passed" };
