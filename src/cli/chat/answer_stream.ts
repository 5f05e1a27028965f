import type { Notice } from "../../supervisor/tree/mod.ts";

/** What there is left to show of an answer; `isAnew`: what was shown is none of it. */
export interface AnswerRest {
  readonly text: string;
  readonly isAnew: boolean;
}

/**
 * The answer of a turn as it comes, in pieces of which some may be missing: where too many come, events are left out. A
 * piece is shown only behind the one before it, so that what was shown and the rest are the answer, once.
 */
export class AnswerStream {
  #round: unknown;
  #shown = "";

  /** The piece that is to be shown now, and whether what was shown before is void. */
  take({ round, at, text, reset }: Extract<Notice, { kind: "event" }>["fields"]): {
    readonly piece?: string;
    readonly isVoid?: true;
  } {
    const isVoid = reset === true && this.#shown !== "";
    if (round !== this.#round || reset === true) [this.#round, this.#shown] = [round, ""];
    if (isVoid) return { isVoid };
    if (at !== this.#shown.length || typeof text !== "string" || text === "") return {};
    this.#shown += text;
    return { piece: text };
  }

  /** What is left of the answer, which is whole. */
  end(answer: string): AnswerRest {
    const shown = this.#shown;
    [this.#round, this.#shown] = [undefined, ""];
    if (answer.startsWith(shown)) return { text: answer.slice(shown.length), isAnew: false };
    return { text: shown.startsWith(answer) ? "" : answer, isAnew: true };
  }
}
