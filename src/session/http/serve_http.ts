import { toFlags } from "../../grants/mod.ts";
import type { FromCell, ServeLoad } from "../../protocol/mod.ts";
import { makeTemporaryFolder } from "../../records/mod.ts";
import { makeGuestLoad } from "../cell/guest_load.ts";
import { CellPool } from "./cell_pool.ts";
import { checkWalls, wallsEvent } from "../walls/cell_walls.ts";
import { NO_DELEGATOR } from "../delegations/delegator.ts";
import { GuestLog } from "../cell/guest_log.ts";
import { HttpService } from "./http_service.ts";
import { Listener } from "./listener.ts";
import type { CellRun } from "../cell/run_cell.ts";
import type { RunNetwork } from "../network/run_network.ts";
import { selfCommand, sourceFlags } from "../self_command.ts";
import { type CellLoss, ServingCell } from "../cell/serving_cell.ts";
import { supervisorRules } from "../walls/supervisor_hull.ts";

/** A service capsule behind a listener. */
export interface HttpServing extends Omit<CellRun, "interrupt" | "onReady" | "tmp"> {
  readonly listen: { readonly hostname: string; readonly port: number };
  readonly cells: number;
  readonly concurrency: number;
  /** Requests that wait when every cell is full. */
  readonly queue: number;
  /** How long one request may take, ms. */
  readonly requestMs: number;
  /** Longest request body, bytes. */
  readonly maxBodyBytes: number;
  /** Aborts when the service should go down: what is under way may come to its end. */
  readonly drain: AbortSignal;
  /** Aborts when it should go down at once. */
  readonly abort: AbortSignal;
  /** Told once requests are served. */
  onListening(address: Deno.NetAddr): void;
}

/** What a service did. */
export interface ServingResult {
  readonly requests: number;
  /** Requests whose guest gave no whole response. */
  readonly failed: number;
  /** Whether all that was under way came to its end. */
  readonly isDrained: boolean;
}

/** How long requests under way have when the service goes down, ms. */
const DRAIN_MS = 25_000;

/** Denials that are passed on, in all: what comes after is an attacker's flood. */
const MAX_DENIALS = 100;

/**
 * Serves a capsule's handler until `drain` aborts: binds the port, confines this process to its ceiling, starts the
 * cells, and replaces each that is lost. Records are the caller's; nothing of a cell is left.
 *
 * @throws `service.listen_failed`, `cell.start_failed`, `hull.failed`
 */
export async function serveHttp(serving: HttpServing): Promise<ServingResult> {
  const tally = { requests: 0, failed: 0 };
  const opened = Promise.withResolvers<HttpService>();
  opened.promise.catch(() => {});
  await using network = await openNetwork(serving);
  const listener = new Listener(serving.listen, async (request) => (await opened.promise).handle(request));
  serving.hull?.setNoDelay(listener.address.port);
  using log = new GuestLog(serving.places);
  try {
    confine(serving, network);
    const pool = openPool(serving, network, log);
    try {
      await openUnlessAborted(pool, serving.drain);
      opened.resolve(
        new HttpService({
          submit: (call) => pool.submit(call),
          maxBodyBytes: serving.maxBodyBytes,
          onServed(served) {
            tally.requests++;
            if (served.failed !== undefined) tally.failed++;
            serving.trace.append("request", served);
          },
        }),
      );
      if (!serving.drain.aborted) serving.onListening(listener.address);
      await until(serving.drain);
      const isDrained = await drain(listener, await opened.promise, serving.abort);
      return { ...tally, isDrained };
    } finally {
      await pool.close();
    }
  } finally {
    opened.reject(new Error("the service is going down"));
    await listener.close();
  }
}

/** The code of the gate is loaded only by a service that has a network. */
async function openNetwork(serving: HttpServing): Promise<RunNetwork | undefined> {
  const { grants } = serving.plan;
  if (grants.net.length === 0) return undefined;
  const { RunNetwork } = await import("../network/run_network.ts");
  let denials = 0;
  return await RunNetwork.open({
    grants,
    ...(serving.upstream === undefined ? {} : { upstream: serving.upstream }),
    trace: serving.trace,
    onDenied(denied) {
      if (++denials <= MAX_DENIALS) serving.onDenied?.(denied);
    },
  });
}

function confine({ hull, plan, places, component }: HttpServing, network: RunNetwork | undefined): void {
  if (hull === undefined) return;
  // The folder in which every cell's own folder is made.
  using tmp = makeTemporaryFolder();
  hull.confine(supervisorRules(plan.grants, {
    cache: component.dir,
    tmp: tmp.path,
    session: places.root,
    ...(plan.grants.fs.work === undefined ? {} : { work: places.work }),
    ...(network === undefined ? {} : { network: network.supervisor }),
  }, false));
}

function openPool(serving: HttpServing, network: RunNetwork | undefined, log: GuestLog): CellPool {
  const { cells, concurrency } = serving;
  const numbers = new WeakMap<ServingCell, number>();
  let [denials, started] = [0, 0];
  const onMessage = (message: FromCell, cell: ServingCell) => {
    if (message.type === "log") log.append(message, numbers.get(cell) ?? 0);
    else if (message.type === "denied") {
      const { grant, asked, allow } = message;
      if (++denials <= MAX_DENIALS) serving.onDenied?.({ grant, asked, allow });
    } else if (message.type === "host_call") {
      if (message.name === "delegate") cell.answer({ type: "host_result", id: message.id, ...NO_DELEGATOR });
      else if (message.name === "resolve") {
        network?.answer(message).then((result) => cell.answer({ type: "host_result", ...result }));
      }
    }
  };
  return new CellPool({
    cells,
    concurrency,
    queue: serving.queue,
    deadlineMs: serving.requestMs,
    async start() {
      const number = ++started;
      const cell = await startCell(serving, network, onMessage, () => number === 1);
      numbers.set(cell, number);
      return cell;
    },
    onLost: (loss, calls) => serving.trace.append("cell_lost", { reason: describeLoss(loss), calls }),
    onStartFailed: (error) => {
      const reason = error instanceof Error ? error.message : String(error);
      serving.trace.append("cell_lost", { reason, calls: 0 });
    },
  });
}

function startCell(
  serving: HttpServing,
  network: RunNetwork | undefined,
  onMessage: (message: FromCell, cell: ServingCell) => void,
  isFirst: () => boolean,
): Promise<ServingCell> {
  const { plan } = serving;
  const tmp = makeTemporaryFolder();
  const { concurrency } = serving;
  const load: ServeLoad = { ...makeGuestLoad(serving, tmp.path, network), kind: "serve", concurrency };
  const places = { ...load.folders, ...network?.places };
  const own = selfCommand(toFlags({ kind: "cell", grants: plan.grants, places, ...sourceFlags() }));
  return ServingCell.start({
    tmp,
    own,
    load,
    checkWalls(walls) {
      checkWalls(walls, plan);
      if (isFirst()) serving.trace.append("walls", wallsEvent(walls));
    },
    onMessage,
  });
}

function describeLoss({ exit, fault, killedFor, stderr }: CellLoss): string {
  if (killedFor === "deadline") return "a guest went on behind its request's deadline";
  if (fault !== undefined) return fault.message;
  if (exit.signal === "SIGABRT" || exit.signal === "SIGTRAP") {
    return `ended by ${exit.signal}: at its memory barrier, or by a fault of the runtime`;
  }
  const tail = stderr.trim().split("\n").at(-1) ?? "";
  return `ended with ${exit.signal ?? `code ${exit.code}`}${tail === "" ? "" : `: ${tail}`}`;
}

/** Ctrl-C while the first cells start ends them, and is no failure. */
async function openUnlessAborted(pool: CellPool, drain: AbortSignal): Promise<void> {
  const stop = () => void pool.close();
  drain.addEventListener("abort", stop);
  try {
    if (!drain.aborted) await pool.open();
  } catch (error) {
    if (!drain.aborted) throw error;
  } finally {
    drain.removeEventListener("abort", stop);
  }
}

function until(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** Takes no more connections and waits for what is under way, so long and no longer. */
async function drain(listener: Listener, service: HttpService, abort: AbortSignal): Promise<boolean> {
  const done = Promise.all([listener.shutdown(), service.idle()]).then(() => true);
  done.catch(() => {});
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((resolve) => timer = setTimeout(() => resolve(false), DRAIN_MS));
  const isDrained = await Promise.race([done, late, until(abort).then(() => false)]);
  clearTimeout(timer);
  return isDrained;
}
