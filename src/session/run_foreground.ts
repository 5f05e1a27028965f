import { CapsuleError } from "../base/mod.ts";
import type { CachedComponent } from "../component/mod.ts";
import { toFlags } from "../grants/mod.ts";
import type { ProcessHull } from "../hull/mod.ts";
import { type CellUsage, type CellWalls, decodeFromCell, type GuestEnding, type RunLoad } from "../protocol/mod.ts";
import { makeTemporaryFolder, type SessionPlaces, type TraceWriter, type WallsRaised } from "../records/mod.ts";
import { type CellProcess, spawnForegroundCell } from "../supervisor/mod.ts";
import { classifyEnding, type Outcome } from "./outcome.ts";
import type { LaunchPlan } from "./plan.ts";
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

/**
 * Runs a command capsule in one cell, with this process as its session: confines this process to its ceiling, spawns,
 * loads, calls, watches, and gives one cause for the ending. Records are the caller's; nothing of the cell is left.
 *
 * @throws `cell.start_failed`, `hull.failed` when the guest never came to run
 */
export async function runForeground(run: ForegroundRun): Promise<ForegroundResult> {
  using tmp = makeTemporaryFolder();
  const load = makeLoad(run, tmp.path);
  run.hull?.confine(supervisorRules(run.plan.grants, { ...load.folders, session: run.places.root }, hasTerminal()));
  const own = selfCommand(toFlags({ kind: "cell", grants: run.plan.grants, places: load.folders, ...sourceFlags() }));
  await using cell = await spawnForegroundCell({
    program: own.program,
    args: own.args,
    env: cellEnvironment(tmp.path, own),
    tmp: tmp.path,
  });
  return await watchCell(cell, load, run);
}

async function watchCell(
  cell: CellProcess,
  load: RunLoad,
  run: ForegroundRun,
): Promise<ForegroundResult> {
  const watch = new Watch(cell, run.interrupt);
  let fault: CapsuleError | undefined;
  let heard: Heard = {};
  try {
    watch.deadline(READY_TIMEOUT_MS, "not_ready");
    await cell.send(load);
    heard = await listen(cell, run, watch, heard);
  } catch (error) {
    // A cell that breaks the protocol, or that says it cannot start, is not asked twice.
    fault = error instanceof CapsuleError
      ? error
      : new CapsuleError("internal", (error as Error).message, { cause: error });
    cell.kill();
  } finally {
    watch.stop();
  }
  const exit = await cell.exit;
  if (watch.reason === "not_ready") fault = new CapsuleError("cell.start_failed", "Start a cell: it was never ready");
  const stopped = watch.reason === "not_ready" ? undefined : watch.reason;
  const outcome = classifyEnding({
    exit,
    ...(stopped && !heard.ended ? { stopped } : {}),
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

async function listen(cell: CellProcess, run: ForegroundRun, watch: Watch, heard: Heard): Promise<Heard> {
  let denials = 0;
  for await (const frame of cell.receive()) {
    const message = decodeFromCell(frame);
    switch (message?.type) {
      case "ready":
        heard.walls = message.walls;
        checkWalls(message.walls, run.plan);
        run.trace.append("walls", wallsEvent(message.walls));
        watch.deadline(run.plan.grants.limits.deadline_ms, "deadline");
        await cell.send({ type: "call", id: 0, export: "wasi:cli/run" });
        break;
      case "denied":
        if (++denials <= MAX_DENIALS) {
          run.onDenied?.({ grant: message.grant, asked: message.asked, allow: message.allow });
        }
        break;
      case "usage":
        heard.usage = message;
        break;
      case "ended":
        heard.ended ??= message;
        break;
      case "failed":
        throw heard.walls
          ? new CapsuleError("cell.crashed", `Run a guest: ${message.message}`)
          : new CapsuleError("cell.start_failed", `Start a cell: ${message.message}`);
    }
  }
  return heard;
}

function wallsEvent({ worker, landlock, seccomp, abi }: CellWalls): WallsRaised {
  return { permissions: worker ? "lists" : "revoked", landlock, landlock_abi: abi, seccomp };
}

/** What was promised (and recorded) must stand, or the guest does not start. */
function checkWalls({ landlock, seccomp }: CellWalls, plan: LaunchPlan): void {
  if (plan.containment.achieved === "scoped" && !(landlock && seccomp)) {
    throw new CapsuleError("hull.failed", "Confine a cell: the kernel wall that this host has did not rise in it");
  }
}

/** Kills the cell when the deadline passes or the user interrupts; the first reason wins and is kept. */
class Watch {
  reason: "deadline" | "interrupted" | "not_ready" | undefined;
  readonly #cell: CellProcess;
  readonly #interrupt: AbortSignal;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(cell: CellProcess, interrupt: AbortSignal) {
    this.#cell = cell;
    this.#interrupt = interrupt;
    if (interrupt.aborted) this.#onInterrupt();
    else interrupt.addEventListener("abort", this.#onInterrupt);
  }

  deadline(ms: number, reason: "deadline" | "not_ready"): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end(reason), ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#interrupt.removeEventListener("abort", this.#onInterrupt);
  }

  readonly #onInterrupt = () => this.#end("interrupted");

  #end(reason: "deadline" | "interrupted" | "not_ready"): void {
    this.reason ??= reason;
    this.#cell.kill();
  }
}

function makeLoad({ plan, component, envValues, places, kernel }: ForegroundRun, tmp: string): RunLoad {
  return {
    type: "load",
    kind: "run",
    grants: plan.grants,
    args: [plan.capsule.name, ...plan.args],
    env: Object.entries(envValues),
    folders: { cache: component.dir, tmp, ...(plan.grants.fs.work === undefined ? {} : { work: places.work }) },
    component: {
      key: component.key,
      glue: component.glue,
      modules: component.modules,
      memories: component.description.memories,
    },
    kernel,
    terminal: [Deno.stdin.isTerminal(), Deno.stdout.isTerminal(), Deno.stderr.isTerminal()],
  };
}

function hasTerminal(): boolean {
  return Deno.stdin.isTerminal() || Deno.stdout.isTerminal() || Deno.stderr.isTerminal();
}
