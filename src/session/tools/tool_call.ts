import { decodeToolAnswer, type FromCell, type ToCell, type ToolCallMessage } from "../../protocol/mod.ts";
import type { CallFailure } from "../http/http_call.ts";
import type { CallTurn, CellCall } from "../cell/serving_cell.ts";
import { CallClock } from "./call_clock.ts";

/** How a call ended: what its cell gave, not decoded, or why there is nothing. */
export type ToolCallEnd = { readonly value: unknown } | { readonly failure: CallFailure };

/** What is asked of a tool. */
export interface ToolCallInput extends Pick<ToolCallMessage, "tool" | "input"> {
  readonly deadlineMs: number;
  /** Whether it may run once more when its cell was lost through another's fault. */
  readonly mayRunTwice: boolean;
}

/** Words and lines that one call may say. */
const MAX_WORDS = 1_000;

/** One call of a tool on its way through a cell, or through two. */
export class ToolCall implements CellCall {
  readonly input: ToolCallInput;
  /** Settles once, as soon as the end is known. */
  readonly end: Promise<ToolCallEnd>;
  readonly over: Promise<void>;
  /** Aborts when nobody waits for the call any more. */
  readonly signal: AbortSignal;
  readonly #end = Promise.withResolvers<ToolCallEnd>();
  readonly #over = Promise.withResolvers<void>();
  readonly #settled = new AbortController();
  #clock: CallClock | undefined;
  #attempt: { readonly id: number; readonly send: (message: ToCell) => void } | undefined;
  #attempts = 0;
  #words = 0;
  #hasReachedOut = false;
  /** What it waits for that takes none of its time. */
  #reaching = 0;
  #turn: CallTurn = "none";
  #hasBegun = false;
  #isOver = false;

  constructor(input: ToolCallInput) {
    this.input = input;
    this.end = this.#end.promise;
    this.over = this.#over.promise;
    this.signal = this.#settled.signal;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether its guest had the thread, in any cell and as far as that was told. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Whether somebody waits for its end: what its guest asks for afterwards is nobody's. */
  get isOpen(): boolean {
    return !this.#isOver && !this.signal.aborted;
  }

  /** Not when it has started a child or asked a person: that would be done twice, too. */
  get isRerunnable(): boolean {
    return this.input.mayRunTwice && this.#attempts === 1 && !this.#hasReachedOut && this.isOpen;
  }

  /** Whether one more word of its tool is heard. */
  get isHeard(): boolean {
    return ++this.#words <= MAX_WORDS;
  }

  /** Its time in the cell that it is handed to next. */
  set clock(clock: CallClock) {
    this.#clock?.stop();
    this.#clock = clock;
  }

  /** While another has the thread its time stands still. */
  takeTurn(turn: CallTurn): void {
    this.#turn = turn;
    this.#hasBegun ||= turn === "own";
    this.#setClock();
  }

  start(id: number, send: (message: ToCell) => void): void {
    this.#attempts++;
    this.#attempt = { id, send };
    const { tool, input } = this.input;
    send({ type: "call", id, tool, ...(input === undefined ? {} : { input }) });
  }

  receive(message: FromCell): void {
    if (message.type !== "done" || this.#isOver) return;
    const { error, value } = message;
    if (error !== undefined) return this.finish({ failed: error.kind, detail: error.detail });
    // Of an enemy: what is no answer is the cell's fault, and not this call's alone.
    this.#settle({ value: this.input.input === undefined ? value : decodeToolAnswer(value) });
    this.finish(undefined);
  }

  cancel(): void {
    this.#attempt?.send({ type: "cancel", id: this.#attempt.id });
  }

  settle(failure: CallFailure): void {
    this.#settle({ failure });
  }

  finish(failure: CallFailure | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#settle({ failure: failure ?? NO_END });
    this.#over.resolve();
  }

  /** While `waiting` is under way the call's time stands still, unless its guest runs. */
  async hold<T>(waiting: Promise<T>): Promise<T> {
    this.#hasReachedOut = true;
    this.#reaching++;
    this.#setClock();
    try {
      return await waiting;
    } finally {
      this.#reaching--;
      this.#setClock();
    }
  }

  #setClock(): void {
    const isWaiting = this.#reaching > 0 && this.#turn !== "own";
    if (this.#clock !== undefined) this.#clock.isHeld = isWaiting || this.#turn === "other";
  }

  #settle(end: ToolCallEnd): void {
    this.#clock?.stop();
    this.#end.resolve(end);
    if (!this.#settled.signal.aborted) this.#settled.abort();
  }
}

const NO_END: CallFailure = { failed: "no_response", detail: "it gave no answer" };
