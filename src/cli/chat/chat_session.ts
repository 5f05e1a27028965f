import { readTraceLines } from "../../records/mod.ts";
import type { ChildEnding, Notice, SessionChild } from "../../supervisor/tree/mod.ts";
import { INTERRUPTED } from "../agent/agent_run.ts";
import type { ChatInterrupts } from "./chat_interrupts.ts";
import type { ChatScreen } from "./chat_screen.ts";
import { readLivingAnswer } from "./living_answer.ts";
import type { Starting } from "../tree/root_capsule.ts";
import { RootTree } from "../tree/root_tree.ts";

/** The longest message, characters. */
const MAX_MESSAGE = 1024 * 1024;

/** How far back the trace is read for why a turn did not end well, bytes. */
const REASON_BYTES = 64 * 1024;

/** How a conversation ended; without an ending nothing was ever said. */
export interface ChatEnding {
  readonly ending?: ChildEnding;
  readonly trace: string;
  /** Its input ended while the agent waited for an answer. */
  readonly isUnanswered: boolean;
}

/**
 * A conversation with an agent: a warm session below this process, a turn for each line of standard input. What it asks is
 * answered by the next line. Ctrl-C ends the turn that runs; again, or between two turns, it ends the conversation.
 */
export class ChatSession {
  readonly #starting: Starting;
  readonly #screen: ChatScreen;
  readonly #interrupts: ChatInterrupts;
  #tree: RootTree | undefined;
  #child: SessionChild | undefined;
  #gate: string | undefined;
  /** Settles when it is somebody's turn to type again, or nobody's any more. */
  #quiet = Promise.withResolvers<void>();
  readonly #over = Promise.withResolvers<void>();
  #isRunning = false;
  #isStopping = false;
  #isEnding = false;

  constructor(starting: Starting, screen: ChatScreen, interrupts: ChatInterrupts) {
    this.#starting = starting;
    this.#screen = screen;
    this.#interrupts = interrupts;
  }

  /** Talks until its input ends, its agent has ended, or it is told to end. */
  async run(): Promise<ChatEnding> {
    await using tree = await RootTree.open({
      starting: this.#starting,
      warm: true,
      interactive: true,
      onNotice: (notice) => this.#hear(notice),
    });
    this.#tree = tree;
    this.#starting.interrupts.first.throwIfAborted();
    this.#interrupts.hear((kind) => this.#interrupt(kind));
    await Promise.race([this.#talk(), this.#over.promise]);
    this.#screen.end();
    const isUnanswered = this.#gate !== undefined && !this.#isEnding;
    const ending = await this.#close();
    return { ...(ending === undefined ? {} : { ending }), trace: tree.places?.trace ?? "", isUnanswered };
  }

  async #talk(): Promise<void> {
    this.#screen.prompt();
    for await (const line of this.#starting.context.readLines?.(MAX_MESSAGE) ?? []) {
      if (line.trim() !== "" || this.#gate !== undefined) await this.#say(line);
      if (this.#isEnding || this.#child?.isOver === true) return;
      if (this.#gate === undefined) this.#screen.prompt();
    }
  }

  /** Settles when the turn has ended, or asks something. */
  async #say(line: string): Promise<void> {
    this.#quiet = Promise.withResolvers();
    const node = this.#gate;
    this.#gate = undefined;
    if (node !== undefined) this.#child?.reply(node, line);
    else if (this.#child === undefined) this.#begin(line);
    else {
      this.#isRunning = true;
      this.#child.inject(line);
    }
    await this.#quiet.promise;
  }

  /** A warm session has no turn without its first message. */
  #begin(line: string): void {
    this.#isRunning = true;
    const child = this.#tree!.start(line);
    this.#child = child;
    child.ended.then(() => {
      this.#isEnding = true;
      this.#quiet.resolve();
      this.#over.resolve();
    });
  }

  /** Where nothing can be shown any more, nobody is talked to. */
  #hear(notice: Notice): void {
    try {
      this.#take(notice);
    } catch (error) {
      this.#over.reject(error);
    }
  }

  #take(notice: Notice): void {
    switch (notice.kind) {
      case "gate":
        this.#gate = notice.node;
        this.#screen.question(questionOf(notice.payload));
        return this.#quiet.resolve();
      case "gate_closed":
        if (this.#gate === notice.node) this.#gate = undefined;
        return;
      case "intel_health":
        if (notice.all_down) this.#screen.note("its model cannot be reached");
        return;
      case "turn":
        return this.#endTurn(notice.outcome.status, notice.outcome.partial);
      default:
        return this.#screen.notice(notice);
    }
  }

  #endTurn(status: string, partial: boolean): void {
    this.#isRunning = false;
    this.#isStopping = false;
    this.#gate = undefined;
    const places = this.#tree?.places;
    const reason = status === "completed" || places === undefined ? undefined : lastReason(places.trace);
    const text = (status === "completed" || partial) && places !== undefined ? readLivingAnswer(places) : "";
    if (text === undefined) this.#screen.note("its answer cannot be read; what was shown of it may not be all");
    this.#screen.turn({ status, partial, text, ...(reason === undefined ? {} : { reason }) });
    this.#quiet.resolve();
  }

  #interrupt(kind: "interrupt" | "end"): void {
    const child = this.#child;
    if (kind === "interrupt" && this.#isRunning && !this.#isStopping && child !== undefined) {
      this.#isStopping = true;
      child.cancelTurn();
      return this.#screen.note("stopping this turn; Ctrl-C once more ends the conversation");
    }
    if (this.#isEnding) return this.#tree?.supervisor.killNow(INTERRUPTED);
    this.#isEnding = true;
    if (child !== undefined) this.#tree?.supervisor.stop(child.path, INTERRUPTED);
    this.#quiet.resolve();
    this.#over.resolve();
  }

  async #close(): Promise<ChildEnding | undefined> {
    const child = this.#child;
    if (child === undefined) return undefined;
    if (!this.#isEnding) {
      this.#isEnding = true;
      child.close();
    }
    return await child.ended;
  }
}

function questionOf(payload: unknown): string {
  const { question } = typeof payload === "object" && payload !== null ? payload as { question?: unknown } : {};
  return typeof question === "string" ? question : "It asks for an answer";
}

/** Why the last task did not end well, as its session wrote it down. */
function lastReason(trace: string): string | undefined {
  try {
    const from = Math.max(0, Deno.statSync(trace).size - REASON_BYTES);
    let found: string | undefined;
    for (const { event } of readTraceLines(trace, { from })) {
      if (event?.event === "task_end" && typeof event["reason"] === "string") found = event["reason"];
    }
    return found;
  } catch {
    return undefined;
  }
}
