import { CapsuleError, isId } from "../../base/mod.ts";
import { type DoorTask, isPeers, type TaskEnd, type TaskVoice } from "../../door/mod.ts";
import { distil } from "../../protocol/control/mod.ts";
import type { TraceWriter } from "../../records/mod.ts";
import type { ChildLauncher } from "../delegations/child_launcher.ts";
import { deniedEvent } from "../cell/denied_event.ts";
import type { Outcome } from "../outcome.ts";
import { runCaptured } from "../cell/run_captured.ts";
import type { RoleResult } from "../control/session_work.ts";
import type { DoorTasks } from "./serve_door.ts";
import type { SessionControl } from "../control/session_control.ts";
import type { StderrLog } from "../cell/stderr_log.ts";
import { collectArtifacts, lookBefore } from "./task_artifacts.ts";
import { writeInputFiles } from "./task_files.ts";
import type { TurnCells, TurnRun } from "./turn_cells.ts";
import { TurnDelegations } from "./turn_delegations.ts";

/** What the tasks of a door are done with. */
export interface DoorWorkOptions {
  readonly run: TurnRun;
  readonly cells: Pick<TurnCells, "seat" | "prepare">;
  readonly control: Pick<SessionControl, "pause" | "startTurn" | "endTurn">;
  readonly trace: Pick<TraceWriter, "append">;
  /** The stderr of all tasks. */
  readonly log: StderrLog;
  /** Absent: its tasks may delegate to nobody. */
  readonly launcher?: ChildLauncher;
  /** Settles once this process stands behind its walls: a task of an earlier session may be there before. */
  readonly confined: Promise<void>;
}

/** So long a turn takes at least, ms: the frames of turns that fail at once are still few enough to be followed. */
const SHORTEST_TURN_MS = 12;

/** A command capsule behind a door: each task is a turn, in a cell of its own. */
export class CommandDoorWork implements DoorTasks {
  readonly #options: DoorWorkOptions;
  #delegations: TurnDelegations | undefined;
  #turns = 0;
  #failed = 0;
  #running = 0;
  #last: RoleResult | undefined;

  constructor(options: DoorWorkOptions) {
    this.#options = options;
  }

  /** Turns so far, and how many of them did not complete. */
  get tally(): { readonly turns: number; readonly failed: number; readonly running: number } {
    return { turns: this.#turns, failed: this.#failed, running: this.#running };
  }

  /** What the task that ended last came to. */
  get last(): RoleResult | undefined {
    return this.#last;
  }

  /** Whether files may come with a message. */
  get takesFiles(): boolean {
    return this.givesFiles && !this.#options.run.sharesWork;
  }

  /** Whether files may come out of a task. */
  get givesFiles(): boolean {
    return this.#options.run.plan.grants.fs.work !== undefined;
  }

  /** Whether the task that runs waits for that delegation. */
  isWaiting(delegationId: string): boolean {
    return this.#delegations?.isWaiting(delegationId) ?? false;
  }

  async run(task: DoorTask, voice: TaskVoice): Promise<TaskEnd> {
    const { control, confined } = this.#options;
    if (!isId(task.id, "tsk")) throw new CapsuleError("internal", "Run a task: it has no id of a task");
    await Promise.race([Promise.all([confined, control.pause.passed()]), aborted(task.signal)]);
    if (task.signal.aborted) return { state: "canceled" };
    control.startTurn(task.id, isPeers(task));
    const shortest = new Promise((resolve) => setTimeout(resolve, SHORTEST_TURN_MS));
    this.#turns++;
    this.#running++;
    this.#last = NOT_RUN;
    let end: TaskEnd = { state: "failed", reason: "the runtime could not run it" };
    let status: Outcome["status"] = "crashed";
    try {
      ({ end, status } = await this.#turn(task, voice));
    } catch (error) {
      this.#options.log.head(`--- ${task.id} ---`);
      this.#options.log.append(new TextEncoder().encode(`boll: ${(error as Error).message}\n`));
    } finally {
      await shortest;
      this.#running--;
      if (end.state !== "completed") this.#failed++;
      const result = distil(end.answer ?? "");
      const partial = end.state !== "completed";
      control.endTurn({ status, partial, result, scheduled: [], subscriptions: [] });
    }
    return end;
  }

  async #turn(task: DoorTask, voice: TaskVoice): Promise<{ end: TaskEnd; status: Outcome["status"] }> {
    const { run, cells, trace, log, control, launcher } = this.#options;
    const refusal = refuseFiles(task, run);
    if (refusal !== undefined) return { end: { state: "failed", reason: refusal }, status: "refused" };
    await using seat = cells.seat();
    cells.prepare();
    writeInputFiles(seat.work, task.files);
    const out = run.plan.grants.fs.work === undefined ? undefined : `${seat.work}/out`;
    const before = out !== undefined && run.sharesWork ? lookBefore(out) : undefined;
    const delegations = launcher === undefined ? undefined : new TurnDelegations(launcher, trace);
    this.#delegations = delegations;
    const answer = new Answer((text) => voice.output(text));
    log.head(`--- ${task.id} ---`);
    voice.working();
    try {
      const { outcome, failure } = await runCaptured({
        ...run,
        places: { ...run.places, work: seat.work },
        interrupt: task.signal,
        input: task.text,
        answerName: `result_${task.id}.txt`,
        log,
        pause: control.pause,
        onOutput: (bytes) => answer.add(bytes),
        onDenied: (denied) => trace.append("denied", deniedEvent(denied)),
        ...(delegations === undefined ? {} : { delegator: delegations }),
      }, seat.lead);
      if (failure !== undefined) throw failure;
      answer.end();
      this.#last = { outcome, answer: distil(answer.text) };
      if (out !== undefined && outcome.status !== "cancelled") this.#handOn(task, voice, collectArtifacts(out, before));
      return { end: { ...endOf(outcome), answer: answer.text }, status: outcome.status };
    } finally {
      await delegations?.end();
    }
  }

  #handOn(task: DoorTask, voice: TaskVoice, { found, refused }: ReturnType<typeof collectArtifacts>): void {
    for (const artifact of found) voice.artifact(artifact);
    for (const { name, reason } of refused) {
      this.#options.trace.append("artifact_refused", { task_id: task.id, name, reason });
      voice.working(`not handed on: out/${name}: ${reason}`);
    }
  }
}

/** What a guest says on stdout, as text: no character is cut in its middle, what is none is replaced. */
class Answer {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #tell: (text: string) => void;
  text = "";

  constructor(tell: (text: string) => void) {
    this.#tell = tell;
  }

  add(bytes: Uint8Array): void {
    this.#keep(this.#decoder.decode(bytes, { stream: true }));
  }

  end(): void {
    this.#keep(this.#decoder.decode());
  }

  #keep(piece: string): void {
    if (piece === "") return;
    this.text += piece;
    this.#tell(piece);
  }
}

const NOT_RUN: RoleResult = {
  outcome: { status: "failed", exit_code: 1, ended_by: "crashed", detail: "its task could not be run" },
  answer: "",
};

function refuseFiles({ files }: DoorTask, { plan, sharesWork }: TurnRun): string | undefined {
  if (files.length === 0) return undefined;
  if (plan.grants.fs.work === undefined) return "this capsule takes no files: it has no work folder";
  return sharesWork ? "this capsule takes no files: its work folder is its operator's own" : undefined;
}

/** For the sender: the guest's own ending, or which limit it met; nothing of the host's. */
function endOf({ status, ended_by, exit_code }: Outcome): Pick<TaskEnd, "state" | "reason"> {
  if (status === "completed") return { state: "completed" };
  if (status === "cancelled") return { state: "canceled" };
  if (ended_by === "guest") return { state: "failed", reason: `the program ended with exit code ${exit_code}` };
  return { state: "failed", reason: REASONS[ended_by] ?? "the program could not be run to its end" };
}

const REASONS: Partial<Record<Outcome["ended_by"], string>> = {
  trap: "the program trapped",
  deadline: "the time for a task is over",
  memory: "the program reached its memory limit",
  cpu: "the program used up its CPU time",
  output: "the program wrote more than it may",
};

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
