import { errorCodeOf, printableLine } from "../../base/mod.ts";
import { Launcher, type LauncherOptions } from "../../delegation/mod.ts";
import { achievedContainment, type Grants } from "../../grants/mod.ts";
import { PinnedFolder, probeHull, ProcessTree } from "../../hull/mod.ts";
import type { Capsule } from "../../manifest/mod.ts";
import { runtimeFolder } from "../../records/mod.ts";
import { type CeilingPlaces, type CellRun, isCompiled, modelPorts, recordedDelegator } from "../../session/mod.ts";
import { type EndReason, OWN_PLACE } from "../../supervisor/tree/mod.ts";
import { BUILD_INFO } from "../about/build_info.ts";
import type { SessionRecord } from "../run/session_record.ts";
import { Spawnables } from "./spawnables.ts";
import { STOP_REASON } from "./stop_reason.ts";

type AnyRecord = SessionRecord<Capsule>;

/** What a run that may delegate is told, and tells. */
export interface DelegatingOptions extends Required<Pick<LauncherOptions, "onStart" | "onEnd">> {
  /** Aborts when the run is to end: its children end first. */
  readonly ending: AbortSignal;
  /** Aborts when nobody waits any more. */
  readonly killing: AbortSignal;
}

/**
 * A run in the foreground that may delegate: its process is the supervisor of its tree. Everything that could be started
 * is checked and built before the process confines itself.
 */
export class DelegatingRun implements AsyncDisposable {
  readonly #launcher: Launcher;
  readonly #spawnables: Spawnables;
  readonly #processes: ProcessTree | undefined;
  /** What the run is to be told of it. */
  readonly run: Required<Pick<CellRun, "ceiling" | "delegator" | "onReady">>;
  #ended: Promise<void> | undefined;

  private constructor(record: AnyRecord, spawnables: Spawnables, options: DelegatingOptions) {
    const { resolved: { home, grants: { grants, envValues }, upstream }, places, trace } = record;
    this.#spawnables = spawnables;
    this.#processes = openProcesses();
    let untilMs: number | undefined;
    const remainingMs = () => untilMs === undefined ? grants.limits.deadline_ms : untilMs - performance.now();
    const probe = probeHull();
    this.#launcher = new Launcher({
      home,
      runtime: runtimeFolder(record.context.readVariable),
      boll_version: BUILD_INFO.version,
      upstream,
      root: { places, grants, envValues, remainingMs },
      find: (name) => spawnables.find(name),
      containmentOf: ({ net, containment }: Grants) => ({
        ...(containment === undefined ? {} : { declared: containment }),
        ...achievedContainment(probe, { compiled: isCompiled, net }),
      }),
      onStart: options.onStart,
      onEnd: options.onEnd,
      warn: (line) => warn(record, line),
      ...(this.#processes === undefined ? {} : { processes: this.#processes, openFolder: PinnedFolder.open }),
    });
    this.run = {
      delegator: recordedDelegator(this.#launcher.at(OWN_PLACE), trace),
      ceiling: ceilingOf(record, spawnables),
      onReady: () => untilMs = performance.now() + grants.limits.deadline_ms,
    };
    onAbort(options.ending, () => this.#ended ??= this.#end(endReason(options.ending)));
    onAbort(options.killing, () => this.#launcher.supervisor.killNow());
  }

  /** @throws `component.*` */
  static async open(record: AnyRecord, options: DelegatingOptions): Promise<DelegatingRun> {
    const spawnables = await Spawnables.open({ ...record, readVariable: record.context.readVariable }, {
      interrupt: options.ending,
      onMismatch: (key, detail) => record.trace.append("cache_mismatch", { key, detail }),
      warn: (line) => warn(record, line),
    });
    return new DelegatingRun(record, spawnables, options);
  }

  /** The sessions below the run. */
  get tree(): Launcher["supervisor"] {
    return this.#launcher.supervisor;
  }

  /** Ends what lives below the run; settles when it is gone and recorded. More than once is harmless. */
  async [Symbol.asyncDispose](): Promise<void> {
    await (this.#ended ??= this.#end());
  }

  async #end(reason?: EndReason): Promise<void> {
    await (reason === undefined ? this.#launcher[Symbol.asyncDispose]() : this.#launcher.end(reason));
    this.#spawnables[Symbol.dispose]();
    this.#processes?.close();
  }
}

/** What the records of the sessions below say of a run that was ended from outside. */
function endReason({ reason }: AbortSignal): EndReason {
  return reason === STOP_REASON
    ? { status: "cancelled", ended_by: "terminated", detail: "the run was stopped by `boll stop`" }
    : { status: "cancelled", ended_by: "interrupted", detail: "the run was interrupted" };
}

/** What the sessions below need: places of their own, the components, the capsules, the operator's certificates. */
function ceilingOf({ resolved: { home, upstream } }: AnyRecord, { folders, models }: Spawnables): CeilingPlaces {
  return {
    // A supervisor sees its processes in /proc.
    read: [home.cache, ...folders, "/proc", ...(upstream.ca === undefined ? [] : [upstream.ca])],
    write: [home.sessions],
    ports: models.flatMap((model) => modelPorts(model, upstream.proxy?.port)),
  };
}

/** Absent where there is none to be had: then only a child's own process group can be reached. */
export function openProcesses(): ProcessTree | undefined {
  if (Deno.build.os !== "linux") return undefined;
  try {
    const processes = ProcessTree.open();
    processes.becomeSubreaper();
    return processes;
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return undefined;
  }
}

export function onAbort(signal: AbortSignal, work: () => unknown): void {
  if (signal.aborted) work();
  else signal.addEventListener("abort", () => work());
}

function warn({ args, context }: AnyRecord, line: string): void {
  if (!args.has("quiet")) context.stderr.write(`boll: warning: ${printableLine(line, 2_000)}\n`);
}
