import { printable, printableJson, printableLine } from "../../base/mod.ts";
import type { Notice } from "../../supervisor/tree/mod.ts";
import { progressLine } from "../agent/agent_progress.ts";
import { type Paint, paintFor } from "../text/paint.ts";
import type { Context } from "../verb.ts";
import { AnswerStream } from "./answer_stream.ts";

/** How a turn ended, for whoever talks. */
export interface TurnEnding {
  readonly status: string;
  readonly partial: boolean;
  /** The whole answer; absent when it cannot be read. */
  readonly text: string | undefined;
  /** Why it did not end well, as far as it is known. */
  readonly reason?: string;
}

/** Where a conversation is shown. */
export interface ChatScreen {
  /** It waits for a message. */
  prompt(): void;
  /** Something happens in a turn. */
  notice(notice: Notice): void;
  question(text: string): void;
  turn(ending: TurnEnding): void;
  /** A word of boll's own. */
  note(text: string): void;
  /** Nobody types any more. */
  end(): void;
}

/** Events for a program: one JSON object a line, on stdout. */
export class JsonScreen implements ChatScreen {
  readonly #context: Context;
  readonly #answer = new AnswerStream();

  constructor(context: Context) {
    this.#context = context;
  }

  prompt(): void {}

  notice(notice: Notice): void {
    if (notice.kind !== "event") return;
    const { event, fields: { tool, i, of, is_error, ms } } = notice;
    if (event === "turn.text") {
      const { piece, isVoid } = this.#answer.take(notice.fields);
      if (isVoid) this.#say({ type: "text", text: "", reset: true });
      if (piece !== undefined) this.#say({ type: "text", text: piece });
    }
    if (event === "turn.tool") this.#say({ type: "tool", tool, i, of });
    if (event === "turn.tool_end") this.#say({ type: "tool_end", tool, i, is_error, ms });
  }

  question(text: string): void {
    this.#say({ type: "question", question: text });
  }

  turn(ending: TurnEnding): void {
    const { text, isAnew } = this.#answer.end(ending.text ?? "");
    if (text !== "") this.#say({ type: "text", text, ...(isAnew ? { reset: true } : {}) });
    this.#say({ type: "turn", ...ending });
  }

  note(text: string): void {
    this.#context.stderr.write(`boll: ${printableLine(text, 1_000)}\n`);
  }

  end(): void {}

  #say(event: Record<string, unknown>): void {
    this.#context.stdout.write(`${printableJson(event)}\n`);
  }
}

/** For pipes: each answer whole when it is there, on stdout; the rest on stderr. */
export class PlainScreen implements ChatScreen {
  protected readonly context: Context;

  constructor(context: Context) {
    this.context = context;
  }

  prompt(): void {}

  notice(_notice: Notice): void {}

  question(text: string): void {
    this.context.stderr.write(`? ${printableLine(text, 4_096)}\n`);
  }

  turn({ status, partial, text = "", reason }: TurnEnding): void {
    if (text !== "") this.context.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
    if (status === "completed") return;
    this.note(
      `the turn ended as ${status}${reason === undefined ? "" : ` (${reason})`}${
        partial ? ", the answer is not the whole one" : ""
      }`,
    );
  }

  note(text: string): void {
    this.context.stderr.write(`boll: ${printableLine(text, 1_000)}\n`);
  }

  end(): void {}
}

/** For a person at a terminal: the answer as it comes, tools as they run. */
export class TerminalScreen extends PlainScreen {
  readonly #paint: Paint;
  readonly #answer = new AnswerStream();
  #isMidLine = false;
  /** A prompt stands, whose line only the person at it ends. */
  #isPrompting = false;

  constructor(context: Context) {
    super(context);
    this.#paint = paintFor(context.stdout, context);
  }

  override prompt(): void {
    this.#line();
    this.context.stdout.write(this.#paint.bold("> "));
    this.#isPrompting = true;
  }

  override notice(notice: Notice): void {
    this.#isPrompting = false;
    if (notice.kind === "event" && notice.event === "turn.text") {
      const { piece, isVoid } = this.#answer.take(notice.fields);
      if (isVoid) this.note("its model begins this answer again");
      if (piece !== undefined) this.#show(piece);
      return;
    }
    const line = progressLine(notice, this.#paint);
    if (line === undefined) return;
    this.#line();
    this.context.stdout.write(`${line}\n`);
  }

  override question(text: string): void {
    this.#line();
    this.context.stdout.write(`${this.#paint.bold("?")} ${printableLine(text, 4_096)}\n${this.#paint.bold("? ")}`);
    this.#isPrompting = true;
  }

  override turn(ending: TurnEnding): void {
    const { text, isAnew } = this.#answer.end(ending.text ?? "");
    if (isAnew) this.#line();
    this.#show(text);
    this.#line();
    super.turn({ ...ending, text: "" });
  }

  override note(text: string): void {
    this.#line();
    super.note(text);
  }

  override end(): void {
    this.#isMidLine ||= this.#isPrompting;
    this.#line();
  }

  #show(text: string): void {
    const safe = printable(text);
    this.context.stdout.write(safe);
    if (safe !== "") this.#isMidLine = !safe.endsWith("\n");
  }

  #line(): void {
    if (this.#isMidLine) this.context.stdout.write("\n");
    this.#isMidLine = false;
    this.#isPrompting = false;
  }
}
