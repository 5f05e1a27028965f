import { CapsuleError } from "../base/mod.ts";
import type { CachedComponent } from "../component/mod.ts";
import { toFlags } from "../grants/mod.ts";
import type { ProcessHull } from "../hull/mod.ts";
import type { Upstream } from "../manifest/mod.ts";
import { type CellUsage, type CellWalls, decodeFromCell, type GuestEnding, type RunLoad } from "../protocol/mod.ts";
import { makeTemporaryFolder, type SessionPlaces, type TraceWriter } from "../records/mod.ts";
import { type CellProcess, spawnForegroundCell } from "../supervisor/mod.ts";
import { makeGuestLoad } from "./guest_load.ts";
import { checkWalls, wallsEvent } from "./cell_walls.ts";
import { classifyEnding, type Outcome } from "./outcome.ts";
import type { LaunchPlan } from "./plan.ts";
import type { RunNetwork } from "./run_network.ts";
import { cellEnvironment, selfCommand, sourceFlags } from "./self_command.ts";
import { supervisorRules } from "./supervisor_hull.ts";

/** Something the guest asked for and did not get. */
export interface Denied {
  readonly grant: string;
  readonly asked: string;
  /** The flag and the manifest line that would allow it next time. */
  readonly allow: string;
}

/** What a foreground run needs beside its plan. */
export interface ForegroundRun {
  readonly plan: LaunchPlan;
  readonly component: CachedComponent;
  /** Values of the granted variables; they travel in the first frame and are in no record. */
  readonly envValues: Readonly<Record<string, string>>;
  readonly places: SessionPlaces;
  readonly trace: TraceWriter;
  /** This process's own hull, still open; absent where there is none. */
  readonly hull?: ProcessHull;
  /** The parts of wall 4 that this host was found to have. */
  readonly kernel: RunLoad["kernel"];
  /** The operator's proxy and certificates between the gate and the network. */
  readonly upstream?: Pick<Upstream, "proxy" | "ca">;
  /** Aborts when the user interrupts. */
  readonly interrupt: AbortSignal;
  onDenied?(denied: Denied): void;
}

/** How a foreground run ended and what stood. */
export interface ForegroundResult {
  readonly outcome: Outcome;
  readonly walls?: CellWalls;
  readonly usage?: CellUsage;
}

/** Denials that are passed on, per run: the host in a cell tells no more, so what comes after is an attacker's flood. */
const MAX_DENIALS = 100;

/** How long a cell may take from its first frame to `ready`, ms. */
const READY_TIMEOUT_MS = 30_000;

/** How long a cell may stay after its last word, or after it has closed its side, ms. */
export const LEAVING_TIMEOUT_MS = 5_000;

/**
 * Runs a command capsule in one cell, with this process as its session: confines this process to its ceiling, spawns,
 * loads, calls, watches, and gives one cause for the ending. Records are the caller's; nothing of the cell is left.
 *
 * @throws `cell.start_failed`, `hull.failed` when the guest never came to run
 */
export async function runForeground(run: ForegroundRun): Promise<ForegroundResult> {
  using tmp = makeTemporaryFolder();
  const denials = new DenialLimit(run);
  await using network = await openNetwork(run, denials);
  const load: RunLoad = { ...makeGuestLoad(run, tmp.path, network), kind: "run", terminal: terminals() };
  const supervisorPlaces = {
    ...load.folders,
    session: run.places.root,
    ...(network === undefined ? {} : { network: network.supervisor }),
  };
  run.hull?.confine(supervisorRules(run.plan.grants, supervisorPlaces, hasTerminal()));
  const places = { ...load.folders, ...network?.places };
  const own = selfCommand(toFlags({ kind: "cell", grants: run.plan.grants, places, ...sourceFlags() }));
  await using cell = await spawnForegroundCell({
    program: own.program,
    args: own.args,
    env: cellEnvironment(tmp.path, own),
    tmp: tmp.path,
  });
  return await watchCell({ cell, load, run, network, denials });
}

/** The code of the gate is loaded only by a run that has a network. */
async function openNetwork(run: ForegroundRun, denials: DenialLimit): Promise<RunNetwork | undefined> {
  const { grants } = run.plan;
  if (grants.net.length === 0) return undefined;
  const { RunNetwork } = await import("./run_network.ts");
  return await RunNetwork.open({
    grants,
    ...(run.upstream === undefined ? {} : { upstream: run.upstream }),
    trace: run.trace,
    onDenied: (denied) => denials.tell(denied),
  });
}

/** A cell that was started, and all that belongs to its run. */
export interface Running {
  readonly cell: Pick<CellProcess, "send" | "receive" | "kill" | "exit">;
  readonly load: RunLoad;
  readonly run: Pick<ForegroundRun, "plan" | "trace" | "interrupt">;
  readonly network: Pick<RunNetwork, "answer"> | undefined;
  readonly denials: Pick<DenialLimit, "tell">;
}

/**
 * Loads, calls and watches a cell to its end. What it says is data from an enemy: `ready` starts the deadline, and the
 * record says then which walls stand, so that it counts once.
 */
export async function watchCell(running: Running): Promise<ForegroundResult> {
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
  return { outcome, ...(heard.walls ? { walls: heard.walls } : {}), ...(heard.usage ? { usage: heard.usage } : {}) };
}

interface Heard {
  walls?: CellWalls;
  usage?: CellUsage;
  ended?: GuestEnding;
}

async function listen({ cell, run, network, denials }: Running, watch: Watch, heard: Heard): Promise<Heard> {
  for await (const frame of cell.receive()) {
    const message = decodeFromCell(frame);
    switch (message?.type) {
      case "ready":
        if (heard.walls) throw new CapsuleError("protocol.unexpected", "Run a guest: its cell said ready twice");
        heard.walls = message.walls;
        checkWalls(message.walls, run.plan);
        run.trace.append("walls", wallsEvent(message.walls));
        watch.deadline(run.plan.grants.limits.deadline_ms, "deadline");
        await cell.send({ type: "call", id: 0, export: "wasi:cli/run" });
        break;
      case "denied":
        denials.tell({ grant: message.grant, asked: message.asked, allow: message.allow });
        break;
      case "host_call":
        // The cell is not held up by one look-up, and may go before its answer comes.
        network?.answer(message).then((result) => cell.send({ type: "host_result", ...result }));
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
          : new CapsuleError("cell.start_failed", `Start a cell: ${message.message}`);
    }
  }
  return heard;
}

/** Tells of what was denied, so often and no more. */
class DenialLimit {
  readonly #run: ForegroundRun;
  #count = 0;

  constructor(run: ForegroundRun) {
    this.#run = run;
  }

  tell(denied: Denied): void {
    if (++this.#count <= MAX_DENIALS) this.#run.onDenied?.(denied);
  }
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

  stop(): void {
    clearTimeout(this.#timer);
    this.#interrupt.removeEventListener("abort", this.#onInterrupt);
  }

  readonly #onInterrupt = () => this.#end("interrupted");

  #end(reason: StopReason): void {
    this.reason ??= reason;
    this.#cell.kill();
  }
}

function hasTerminal(): boolean {
  return terminals().includes(true);
}

function terminals(): [boolean, boolean, boolean] {
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
