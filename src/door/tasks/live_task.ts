import { StreamResponse, type StreamResponse as Response, type Task, TaskState, type TaskStatus } from "@a2a-js/sdk";
import { type ArtifactPiece, pieceEvent, piecesOf, taskEvents, textPieces } from "./artifact_pieces.ts";
import type { Clock } from "../clock.ts";
import { EventLog, type EventLogLimits } from "./event_log.ts";
import type { TaskRecord, TaskStore } from "./task_store.ts";
import { agentMessage, artifactOf, hasEnded, isResting, partOf, stateOf, statusOf, textPart } from "./task_words.ts";
import type { TaskAnswer, TaskArtifact, TaskEnd, TaskVoice } from "../work.ts";

/** What a live task stands on. */
export interface LiveTaskParts {
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly limits: EventLogLimits;
  /** Told of questions and of how they ended. */
  onGate(state: "opened" | "answered" | "timeout" | "canceled"): void;
  /** Told how many readers were too slow for an event. */
  onDropped(count: number): void;
}

/** The artifact that holds the answer. */
const ANSWER = "answer";
/** So much text goes out without a wait, characters. */
const MAX_UNSAID = 256 * 1024;
/** Pieces of an answer within this time go out as one, ms. */
const GATHER_MS = 20;

/** Why a question has no answer: a sentence for the sender. */
export class GateError extends Error {
  override readonly name = "GateError";
}

/** A question that waits. */
interface Gate {
  answer(answer: TaskAnswer): void;
  drop(error: Error): void;
}

/** A task that has not ended: its record, its readers, and what its work says. Each word is kept before it is told. */
export class LiveTask {
  readonly log: EventLog;
  readonly #parts: LiveTaskParts;
  readonly #abort = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  #record: TaskRecord;
  #resting: (() => void)[] = [];
  #gate: Gate | undefined;
  #said = "";
  #unsaid = "";
  #unwatch: (() => void) | undefined;
  #artifacts = 0;
  /** Why its work is to end, when that is asked. */
  stopped: "canceled" | "interrupted" | undefined;

  constructor(record: TaskRecord, parts: LiveTaskParts) {
    this.#record = record;
    this.#parts = parts;
    this.log = new EventLog(parts.limits);
  }

  get task(): Task {
    return this.#record.task;
  }

  get record(): TaskRecord {
    return this.#record;
  }

  /** For the work: aborted when it is to end. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Settles once it has ended. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Whether a question waits for an answer. */
  get isAsking(): boolean {
    return this.#gate !== undefined;
  }

  /** Settles when it rests: it has ended, or asks; or when nobody hears of it any more. */
  async rested(): Promise<void> {
    if (!isResting(this.task)) await new Promise<void>((resolve) => this.#resting.push(resolve));
  }

  /** Tells its first event: the task itself. @throws when it cannot be kept */
  submit(): void {
    this.#parts.store.insert(this.#record);
    this.#tell(taskEvents(this.task)[0]!);
  }

  /** Begins, or goes on. */
  work(text?: string): void {
    if (hasEnded(this.task)) return;
    const message = text === undefined ? undefined : agentMessage(this.task, text);
    this.#setStatus(TaskState.TASK_STATE_WORKING, message);
  }

  /** An answer to its question. */
  answer(message: Task["history"][number], answer: TaskAnswer): void {
    const gate = this.#gate;
    if (gate === undefined) return;
    this.#change({ history: [...this.task.history, message] });
    this.work();
    this.#gate = undefined;
    this.#parts.onGate("answered");
    gate.answer(answer);
  }

  /** Asks its work to end. */
  stop(why: "canceled" | "interrupted"): void {
    this.stopped ??= why;
    this.#gate?.drop(new GateError("the task was to end before its question was answered"));
    this.#abort.abort();
  }

  /** Ends it; the first end counts. Its answer is told, then all of it kept, then its end told. */
  end({ state, answer, reason }: TaskEnd): void {
    if (hasEnded(this.task)) return;
    if (this.#gate !== undefined) this.#gate.drop(new GateError("the task has ended"));
    this.#flush();
    if (answer !== undefined) this.#tellAnswer(answer);
    const words = reason === undefined ? undefined : agentMessage(this.task, reason);
    this.#setStatus(stateOf(state), words);
    this.#close();
  }

  /** Ends it in memory alone, when its record cannot be written. */
  endUnkept(reason: string): void {
    this.#flush();
    const status = statusOf(TaskState.TASK_STATE_FAILED, this.#parts.clock.now(), agentMessage(this.task, reason));
    this.#announce(status);
    this.#close();
  }

  /** Nobody hears of it in this session any more. */
  leave(): void {
    this.#unwatch?.();
    this.log.end();
    this.#wakeResting();
  }

  /** Leaves it to a later session. */
  suspend(): void {
    this.#change({ artifacts: [] });
    this.#setStatus(TaskState.TASK_STATE_SUBMITTED);
    this.#close();
  }

  /** Begins anew, with what an earlier session kept of it. */
  restart(): void {
    this.#change({ artifacts: [] });
    this.#setStatus(TaskState.TASK_STATE_SUBMITTED);
  }

  /** What the work may say. */
  voice(): TaskVoice {
    return {
      working: (text) => this.work(text),
      artifact: (artifact) => this.#addArtifact(artifact),
      output: (text) => this.#say(text),
      ask: (question, timeoutMs) => this.#ask(question, timeoutMs),
    };
  }

  #ask(question: string, timeoutMs: number): Promise<TaskAnswer> {
    if (hasEnded(this.task) || this.stopped !== undefined) {
      return Promise.reject(new GateError("the task was to end before its question was answered"));
    }
    if (this.#gate !== undefined) return Promise.reject(new GateError("a question waits already"));
    return new Promise((resolve, reject) => {
      const unwatch = this.#parts.clock.after(
        timeoutMs,
        () => drop("timeout", new GateError(`nobody answered within ${timeoutMs} ms`)),
      );
      const drop = (how: "timeout" | "canceled", error: Error) => {
        unwatch();
        this.#gate = undefined;
        this.#parts.onGate(how);
        reject(error);
      };
      this.#gate = {
        answer: (answer) => {
          unwatch();
          resolve(answer);
        },
        drop: (error) => drop("canceled", error),
      };
      this.#flush();
      this.#parts.onGate("opened");
      const message = agentMessage(this.task, question);
      this.#change({ history: [...this.task.history, message] });
      this.#setStatus(TaskState.TASK_STATE_INPUT_REQUIRED, message);
    });
  }

  #addArtifact(artifact: TaskArtifact): void {
    if (hasEnded(this.task)) return;
    const made = artifactOf(`artifact-${++this.#artifacts}`, artifact.name, [partOf(artifact)]);
    this.#change({ artifacts: [...this.task.artifacts, made] });
    for (const piece of piecesOf(made)) this.#tellPiece(piece);
  }

  /** A piece at once, what follows soon after it together: a chatty work does not outrun its readers. */
  #say(text: string): void {
    if (hasEnded(this.task) || text === "") return;
    this.#unsaid += text;
    if (this.#unwatch === undefined || this.#unsaid.length >= MAX_UNSAID) this.#flush();
    this.#unwatch ??= this.#parts.clock.after(GATHER_MS, () => {
      this.#unwatch = undefined;
      this.#flush();
    });
  }

  #flush(): void {
    const unsaid = this.#unsaid;
    this.#unsaid = "";
    for (const piece of unsaid === "" ? [] : textPieces(unsaid)) {
      const append = this.#said !== "";
      this.#said += piece;
      this.#tellPiece({ artifact: artifactOf(ANSWER, ANSWER, [textPart(piece)]), append, isLast: false });
    }
    // Who asks meanwhile sees what was said: as one text, as the end will have it.
    if (this.#said !== "") this.#change({ artifacts: this.#withAnswer(this.#said) });
  }

  /** What was said already is not said again, unless the answer is another one. */
  #tellAnswer(answer: string): void {
    const isSame = answer.startsWith(this.#said);
    const rest = artifactOf(ANSWER, ANSWER, [textPart(isSame ? answer.slice(this.#said.length) : answer)]);
    for (const piece of piecesOf(rest)) {
      this.#tellPiece({ ...piece, append: piece.append || (isSame && this.#said !== "") });
    }
    this.#change({ artifacts: this.#withAnswer(answer) });
  }

  #withAnswer(answer: string): Task["artifacts"] {
    const others = this.task.artifacts.filter(({ artifactId }) => artifactId !== ANSWER);
    return [artifactOf(ANSWER, ANSWER, [textPart(answer)]), ...others];
  }

  #tellPiece(piece: ArtifactPiece): void {
    this.#tell(pieceEvent(this.task, piece));
  }

  #setStatus(state: TaskState, message?: Task["history"][number]): void {
    const status = statusOf(state, this.#parts.clock.now(), message);
    this.#parts.store.update({ ...this.#record, task: { ...this.task, status } });
    this.#announce(status);
  }

  #announce(status: TaskStatus): void {
    this.#change({ status });
    const { id: taskId, contextId } = this.task;
    this.#tell({ payload: { $case: "statusUpdate", value: { taskId, contextId, status, metadata: undefined } } });
  }

  #close(): void {
    this.leave();
    this.#ended.resolve();
  }

  #wakeResting(): void {
    const resting = this.#resting;
    this.#resting = [];
    for (const resolve of resting) resolve();
  }

  /** In memory alone; the next status keeps it. */
  #change(change: Partial<Task>): void {
    this.#record = { ...this.#record, task: { ...this.task, ...change } };
  }

  #tell(response: Response): void {
    const rests = isResting(this.task) && response.payload?.$case !== "artifactUpdate";
    const dropped = this.log.publish(JSON.stringify(StreamResponse.toJSON(response)), rests);
    if (dropped > 0) this.#parts.onDropped(dropped);
    if (rests) this.#wakeResting();
  }
}
