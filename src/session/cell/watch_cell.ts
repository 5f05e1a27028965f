import { CapsuleError, type ErrorCode, EXIT_STATUS } from "../../base/mod.ts";
import {
  type CellUsage,
  type CellWalls,
  decodeFromCell,
  type GuestEnding,
  type HostCall,
  type RunLoad,
} from "../../protocol/mod.ts";
import type { CellProcess } from "../../supervisor/mod.ts";
import type { CellDelegations } from "../delegations/cell_delegations.ts";
import { checkWalls, wallsEvent } from "../walls/cell_walls.ts";
import { NO_DELEGATOR } from "../delegations/delegator.ts";
import { classifyEnding, type Outcome } from "../outcome.ts";
import type { CellRun, Denied } from "./run_cell.ts";
import type { RunNetwork } from "../network/run_network.ts";

/** How long a cell may take from its first frame to `ready`, ms. */
const READY_TIMEOUT_MS = 30_000;

/** How long a cell may stay after its last word, or after it has closed its side, ms. */
export const LEAVING_TIMEOUT_MS = 5_000;

/** How a cell's run ended and what stood. */
export interface CellResult {
  readonly outcome: Outcome;
  readonly walls?: CellWalls;
  readonly usage?: CellUsage;
  /** Why the guest never came to run. */
  readonly failure?: CapsuleError;
}

/** A cell that was started, and all that belongs to its run. */
export interface Running {
  readonly cell: Pick<CellProcess, "send" | "receive" | "kill" | "exit">;
  readonly load: RunLoad;
  readonly run: Pick<CellRun, "plan" | "trace" | "interrupt" | "onReady" | "pause" | "taken">;
  readonly network: Pick<RunNetwork, "answer"> | undefined;
  readonly delegations?: Pick<CellDelegations, "answer"> | undefined;
  readonly denials: Pick<DenialLimit, "tell">;
}

/**
 * Loads, calls and watches a cell to its end. What it says is data from an enemy: `ready` starts the deadline, and the
 * record says then which walls stand, so that it counts once.
 */
export async function watchCell(running: Running): Promise<CellResult> {
  const { cell, load, run } = running;
  const watch = new Watch(cell, run.interrupt);
  let fault: CapsuleError | undefined;
  let heard: Heard = {};
  try {
    watch.deadline(READY_TIMEOUT_MS, "not_ready");
    await cell.send(load);
    heard = await listen(running, watch, heard);
    watch.deadline(LEAVING_TIMEOUT_MS, "not_gone");
  } catch (error) {
    // A cell that breaks the protocol, or that says it cannot start, is not asked twice.
    fault = error instanceof CapsuleError
      ? error
      : new CapsuleError("internal", (error as Error).message, { cause: error });
    cell.kill();
  }
  // Until it is gone, whether it still speaks or not, it can be interrupted and has its time.
  const exit = await cell.exit;
  watch.stop();
  if (watch.reason === "not_ready") fault = new CapsuleError("cell.start_failed", "Start a cell: it was never ready");
  if (watch.reason === "not_gone" && !heard.ended) {
    fault = new CapsuleError("cell.crashed", "Run a guest: its cell fell silent and did not end");
  }
  const stopped = watch.reason === "deadline" || watch.reason === "interrupted" ? watch.reason : undefined;
  const outcome = classifyEnding({
    exit,
    ...(stopped && !heard.ended ? { stopped } : {}),
    ...(isTerminalGone(load.terminal) && !endedWell(heard) ? { stopped: "interrupted" as const } : {}),
    ...(fault ? { fault } : {}),
    ...(heard.ended ? { ended: heard.ended } : {}),
    ...(heard.usage ? { usage: heard.usage } : {}),
  });
  return {
    outcome,
    ...(heard.walls ? { walls: heard.walls } : {}),
    ...(heard.usage ? { usage: heard.usage } : {}),
    ...(fault && !heard.walls ? { failure: fault } : {}),
  };
}

interface Heard {
  walls?: CellWalls;
  usage?: CellUsage;
  ended?: GuestEnding;
}

async function listen(running: Running, watch: Watch, heard: Heard): Promise<Heard> {
  const { cell, run, denials } = running;
  for await (const frame of cell.receive()) {
    const message = decodeFromCell(frame);
    switch (message?.type) {
      case "ready":
        if (heard.walls) throw new CapsuleError("protocol.unexpected", "Run a guest: its cell said ready twice");
        heard.walls = message.walls;
        checkWalls(message.walls, run.plan);
        if (run.taken !== undefined) {
          watch.rest();
          const isTaken = await Promise.race([run.taken.then(() => true), cell.exit.then(() => false)]);
          if (!isTaken) break;
        }
        run.trace.append("walls", wallsEvent(message.walls));
        watch.deadline(run.plan.grants.limits.deadline_ms, "deadline");
        run.onReady?.();
        // It may be held here, and end meanwhile.
        await Promise.race([run.pause?.enter(cell), cell.exit]);
        await cell.send({ type: "call", id: 0, export: "wasi:cli/run" });
        break;
      case "denied":
        denials.tell({ grant: message.grant, asked: message.asked, allow: message.allow });
        break;
      case "host_call":
        answerCall(message, running);
        break;
      case "usage":
        heard.usage = message;
        break;
      case "ended":
        if (heard.ended) break;
        heard.ended = message;
        watch.deadline(LEAVING_TIMEOUT_MS, "not_gone");
        break;
      case "failed":
        throw heard.walls
          ? new CapsuleError("cell.crashed", `Run a guest: ${message.message}`)
          : new CapsuleError(startCode(message.code), `Start a cell: ${message.message}`);
    }
  }
  return heard;
}

/** The cell is not held up by one call, and may go before its answer comes. */
function answerCall(call: HostCall, { cell, network, delegations }: Running): void {
  if (call.name === "resolve") {
    network?.answer(call).then((result) => cell.send({ type: "host_result", ...result }));
  } else if (call.name !== "delegate") return; // of a tool, and here is none
  else if (delegations === undefined) cell.send({ type: "host_result", id: call.id, ...NO_DELEGATOR });
  else delegations.answer(call, (message) => cell.send(message));
}

/** Denials that are passed on, per run: the host in a cell tells no more, so what comes after is an attacker's flood. */
const MAX_DENIALS = 100;

/** Tells of what was denied, so often and no more. */
export class DenialLimit {
  readonly #run: Pick<CellRun, "onDenied">;
  #count = 0;

  constructor(run: Pick<CellRun, "onDenied">) {
    this.#run = run;
  }

  tell(denied: Denied): void {
    if (++this.#count <= MAX_DENIALS) this.#run.onDenied?.(denied);
  }
}

/** No guest was there yet to speak for it; yet it speaks only of what it was given, of its own hull, and of its host. */
function startCode(code: string): ErrorCode {
  const isKnown = Object.hasOwn(EXIT_STATUS, code) && /^(component|hull|host)\./.test(code);
  return isKnown ? code as ErrorCode : "cell.start_failed";
}

type StopReason = "deadline" | "interrupted" | "not_ready" | "not_gone";

/** Kills the cell when the deadline passes or the user interrupts; the first reason wins and is kept. */
class Watch {
  reason: StopReason | undefined;
  readonly #cell: Running["cell"];
  readonly #interrupt: AbortSignal;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(cell: Running["cell"], interrupt: AbortSignal) {
    this.#cell = cell;
    this.#interrupt = interrupt;
    if (interrupt.aborted) this.#onInterrupt();
    else interrupt.addEventListener("abort", this.#onInterrupt);
  }

  deadline(ms: number, reason: StopReason): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end(reason), ms);
  }

  /** Nothing is due until the next deadline. */
  rest(): void {
    clearTimeout(this.#timer);
  }

  stop(): void {
    this.rest();
    this.#interrupt.removeEventListener("abort", this.#onInterrupt);
  }

  readonly #onInterrupt = () => this.#end(this.#interrupt.reason === "deadline" ? "deadline" : "interrupted");

  #end(reason: StopReason): void {
    this.reason ??= reason;
    this.#cell.kill();
  }
}

/** Which of this process's own streams are terminals. */
export function terminals(): [boolean, boolean, boolean] {
  return [Deno.stdin.isTerminal(), Deno.stdout.isTerminal(), Deno.stderr.isTerminal()];
}

/** A hang-up may reach a guest, as an error of its stream, before its signal reaches this process. */
function isTerminalGone(before: RunLoad["terminal"]): boolean {
  const now = terminals();
  return before.some((was, index) => was && !now[index]);
}

function endedWell({ ended }: Heard): boolean {
  return ended?.kind === "exit" && ended.code === 0;
}
