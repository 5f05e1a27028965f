import { CapsuleError, isId } from "../../base/mod.ts";
import { type DoorTask, isPeers, type TaskEnd, type TaskVoice } from "../../door/mod.ts";
import type { DoorTasks, RoleResult, SessionControl } from "../../session/role.ts";
import type { AgentSession } from "../session/agent_session.ts";
import type { DoorContexts } from "./door_contexts.ts";
import { oneByOne } from "../turn/gate_ask.ts";
import { aborted, type TurnEnd } from "../loop/mod.ts";
import type { AskUser } from "../tools/own_tools.ts";
import { filesText, MAX_FILES_BYTES } from "../turn/task_text.ts";
import { answerOf, roleResultOf } from "../turn/turn_outcome.ts";
import type { TurnPeople } from "../turn/turn_people.ts";

/** What the tasks of an agent's door are done with. */
export interface AgentDoorWorkOptions {
  /** Settles once the session can take a task: one of an earlier session may be there before. */
  readonly session: Promise<AgentSession>;
  readonly contexts: DoorContexts;
  readonly people: Pick<TurnPeople, "isWaiting">;
  readonly control: Pick<SessionControl, "startTurn" | "endTurn" | "say">;
  /** How long a question waits for its answer, ms. */
  readonly inputTimeoutMs: number;
}

/** So long a turn takes at least, ms: the frames of turns that fail at once are still few enough to be followed. */
const SHORTEST_TURN_MS = 12;

const UNANSWERED = "nobody answered its question in time";

/** An agent behind a door: each task is a turn of the conversation that its sender names. */
export class AgentDoorWork implements DoorTasks {
  readonly takesFiles = { maxTextBytes: MAX_FILES_BYTES };
  readonly givesFiles = false;
  readonly #options: AgentDoorWorkOptions;
  #turns = 0;
  #failed = 0;
  #running = 0;
  #isToldSpent = false;
  #last: RoleResult | undefined;

  constructor(options: AgentDoorWorkOptions) {
    this.#options = options;
  }

  get tally(): DoorTasks["tally"] {
    return { turns: this.#turns, failed: this.#failed, running: this.#running };
  }

  get last(): RoleResult | undefined {
    return this.#last;
  }

  isWaiting(delegationId: string): boolean {
    return this.#options.people.isWaiting(delegationId);
  }

  async run(task: DoorTask, voice: TaskVoice): Promise<TaskEnd> {
    if (!isId(task.id, "tsk")) throw new CapsuleError("internal", "Run a task: it has no id of a task");
    const session = await Promise.race([this.#options.session, aborted(task.signal)]);
    if (session === undefined || task.signal.aborted) return { state: "canceled" };
    this.#options.control.startTurn(task.id, isPeers(task));
    const shortest = new Promise((resolve) => setTimeout(resolve, SHORTEST_TURN_MS));
    this.#turns++;
    this.#running++;
    this.#last = NOT_RUN;
    let told: Told = { end: { state: "failed", reason: "the runtime could not run it" }, status: "crashed" };
    try {
      told = await this.#turn(session, task, voice);
    } finally {
      await shortest;
      this.#running--;
      const { end, status, answer = "", isPartial = false } = told;
      if (end.state !== "completed") this.#failed++;
      const outcome = { status, partial: isPartial, result: answer, scheduled: [], subscriptions: [] };
      this.#options.control.endTurn(outcome);
    }
    return told.end;
  }

  async #turn(session: AgentSession, task: DoorTask, voice: TaskVoice): Promise<Told> {
    const { contexts } = this.#options;
    const unanswered = new AbortController();
    voice.working();
    const turn = await session.run({
      id: task.id,
      text: task.text,
      files: task.files,
      ...(task.origin === "user" ? {} : { stranger: task.origin }),
      isPeers: isPeers(task),
      history: contexts.get(task),
      signal: AbortSignal.any([task.signal, unanswered.signal]),
      ask: this.#askOf(task, voice, unanswered),
      onText: (text) => text === undefined ? undefined : voice.output(text),
    });
    contexts.add(task, turn.messages);
    if (session.isSpent) this.#tellSpent();
    const isUnanswered = unanswered.signal.aborted && !task.signal.aborted;
    const own = roleResultOf(turn);
    this.#last = isUnanswered
      ? { ...own, outcome: { ...NOT_RUN.outcome, ended_by: "guest", detail: UNANSWERED } }
      : own;
    const end = isUnanswered ? { state: "failed" as const, reason: UNANSWERED } : endOf(turn);
    return {
      end: { ...end, ...(turn.text === undefined ? {} : { answer: turn.text }) },
      status: isUnanswered ? "failed" : turn.status,
      ...answerOf(turn),
    };
  }

  /** Once: whoever started it may want to start it again. */
  #tellSpent(): void {
    if (this.#isToldSpent) return;
    this.#isToldSpent = true;
    this.#options.control.say({ type: "event", event: "tokens.spent", fields: {} });
  }

  /** A question that nobody answers in time fails the task. */
  #askOf(task: DoorTask, voice: TaskVoice, unanswered: AbortController): AskUser {
    return oneByOne(async (question, signal) => {
      if (signal.aborted) return { refused: "the task was to end" };
      try {
        const { text, files, origin } = await voice.ask(question, this.#options.inputTimeoutMs);
        // Whoever may answer may still pass on what others said.
        const isForeign = task.origin !== "user" || origin !== "user";
        // All of it is fenced once, as one answer, when any of it is foreign.
        return { text: [text, ...filesText(files)].join("\n\n"), isForeign };
      } catch {
        if (!task.signal.aborted) unanswered.abort("unanswered");
        return { refused: "nobody answered in time" };
      }
    });
  }
}

const NOT_RUN: RoleResult = {
  outcome: { status: "failed", exit_code: 1, ended_by: "crashed", detail: "its task could not be run" },
  answer: "",
};

interface Told extends Partial<ReturnType<typeof answerOf>> {
  readonly end: TaskEnd;
  readonly status: TurnEnd["status"];
}

/** For the sender: how it ended; of what broke, no more than that. */
function endOf({ status, reason, error }: TurnEnd): Pick<TaskEnd, "state" | "reason"> {
  if (status === "completed") return { state: "completed" };
  if (status === "cancelled") return { state: "canceled" };
  if (error !== undefined && error.code !== "answer.invalid") {
    return { state: "failed", reason: "its model could not be asked" };
  }
  return { state: "failed", reason: reason ?? `the agent ended as ${status}` };
}
