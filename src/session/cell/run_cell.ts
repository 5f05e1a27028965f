import type { CachedComponent } from "../../component/mod.ts";
import { toFlags } from "../../grants/mod.ts";
import type { ProcessHull } from "../../hull/mod.ts";
import type { RunLoad } from "../../protocol/mod.ts";
import { makeTemporaryFolder, type SessionPaths, type TraceWriter } from "../../records/mod.ts";
import type { CellLaunch, CellProcess } from "../../supervisor/mod.ts";
import type { CellDelegations } from "../delegations/cell_delegations.ts";
import type { Delegator } from "../delegations/delegator.ts";
import { makeGuestLoad } from "./guest_load.ts";
import type { Pause } from "../control/pause.ts";
import type { CellPlan } from "../plan.ts";
import type { RunNetwork, RunUpstream } from "../network/run_network.ts";
import { cellEnvironment, selfCommand, sourceFlags } from "../self_command.ts";
import { type CeilingPlaces, supervisorRules } from "../walls/supervisor_hull.ts";
import { type CellResult, DenialLimit, type Running, watchCell } from "./watch_cell.ts";

/** Something the guest asked for and did not get. */
export interface Denied {
  readonly grant: string;
  readonly asked: string;
  /** The flag and the manifest line that would allow it next time. */
  readonly allow: string;
}

/** What one run of a command in a cell needs beside its plan. */
export interface CellRun {
  readonly plan: CellPlan;
  readonly component: CachedComponent;
  /** Values of the granted variables; they travel in the first frame and are in no record. */
  readonly envValues: Readonly<Record<string, string>>;
  readonly places: Pick<SessionPaths, "root" | "runtime" | "work">;
  readonly trace: TraceWriter;
  /** This process's own hull, still open; absent where there is none. */
  readonly hull?: ProcessHull;
  /** What this process holds under its hull beside that, for the sessions that it starts. */
  readonly ceiling?: CeilingPlaces;
  /** The parts of wall 4 that this host was found to have. */
  readonly kernel: RunLoad["kernel"];
  /** The operator's proxy and certificates between the gate and the network. */
  readonly upstream?: RunUpstream;
  /** Who starts the children that the guest delegates to; absent: it may delegate to nobody. */
  readonly delegator?: Delegator;
  /** Where the cell's own folder is made: default the runtime folder. */
  readonly tmp?: string;
  /** Aborts when the run is to end; its reason may be the word `deadline`, any other is an interruption. */
  readonly interrupt: AbortSignal;
  onDenied?(denied: Denied): void;
  /** The walls stand, and the guest can start. */
  onReady?(): void;
  /** Holds the guest; absent: nobody can. */
  readonly pause?: Pick<Pause, "enter">;
  /** The cell is started before there is anything for its guest to do, and called when this settles. */
  readonly taken?: Promise<void>;
}

/**
 * Runs a command capsule in one cell: confines this process to its ceiling, spawns, loads, calls, watches, and gives one
 * cause for the ending. `terminal` says which of the guest's streams are terminals, `spawn` starts the cell.
 *
 * @throws `cell.start_failed`, `hull.failed` when the guest never came to run
 */
export async function runCell(
  run: CellRun,
  terminal: RunLoad["terminal"],
  spawn: (launch: CellLaunch) => Promise<CellProcess>,
): Promise<CellResult> {
  using tmp = makeTemporaryFolder(run.tmp);
  const denials = new DenialLimit(run);
  await using network = await openNetwork(run, (denied) => denials.tell(denied));
  const load: RunLoad = { ...makeGuestLoad(run, tmp.path, network), kind: "run", terminal };
  const supervisorPlaces = {
    ...load.folders,
    session: run.places.root,
    ...(network === undefined ? {} : { network: network.supervisor }),
    ...(run.ceiling === undefined ? {} : { ceiling: run.ceiling }),
  };
  run.hull?.confine(supervisorRules(run.plan.grants, supervisorPlaces, terminal.includes(true)));
  return await runLoaded({ run, load, network, denials }, () => spawn(cellLaunch(run, load, network)));
}

/** A run whose first frame is made, below the hull of this process. */
export type LoadedRun = Pick<Running, "load" | "denials"> & {
  readonly run: CellRun;
  readonly network: RunNetwork | undefined;
};

/** Watches the cell that `spawn` gives to its end. */
export async function runLoaded(loaded: LoadedRun, spawn: () => Promise<CellProcess>): Promise<CellResult> {
  const delegations = await openDelegations(loaded.run);
  await using cell = await spawn();
  return await watchCell({ ...loaded, cell, delegations });
}

/** How the cell of such a first frame is started. */
export function cellLaunch(
  { plan }: Pick<CellRun, "plan">,
  { folders }: Pick<RunLoad, "folders">,
  network: RunNetwork | undefined,
): CellLaunch {
  const places = { ...folders, ...network?.places };
  const own = selfCommand(toFlags({ kind: "cell", grants: plan.grants, places, ...sourceFlags() }));
  const { tmp } = folders;
  return { program: own.program, args: own.args, env: cellEnvironment(tmp, own), tmp };
}

/** The code of the gate is loaded only by a run that has a network. */
export async function openNetwork(
  run: Pick<CellRun, "upstream" | "trace"> & { readonly plan: Pick<CellPlan, "grants"> },
  onDenied: (denied: Denied) => void,
): Promise<RunNetwork | undefined> {
  const { grants } = run.plan;
  if (grants.net.length === 0) return undefined;
  const { RunNetwork } = await import("../network/run_network.ts");
  return await RunNetwork.open({
    grants,
    ...(run.upstream === undefined ? {} : { upstream: run.upstream }),
    trace: run.trace,
    onDenied,
  });
}

/** So is that of delegations. */
async function openDelegations({ plan, delegator }: CellRun): Promise<CellDelegations | undefined> {
  if (delegator === undefined || plan.grants.spawn.length === 0) return undefined;
  const { CellDelegations } = await import("../delegations/cell_delegations.ts");
  return new CellDelegations(delegator);
}
