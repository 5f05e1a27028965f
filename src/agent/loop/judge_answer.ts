import type { JsonSchema } from "../../protocol/control/mod.ts";
import { FINISH_TOOL, readFinish } from "./finish_tool.ts";
import type { LoopTool } from "./ports.ts";
import { readJson } from "./read_json.ts";
import { SchemaCheck } from "./schema_check.ts";
import { findArgumentFault } from "./tool_round.ts";
import type { Ending } from "./turn_state.ts";

/** How often an answer that does not fit its schema is asked for again. */
const MAX_REASKS = 2;

/** The tool that ends a turn, as the loop knows it. */
export const FINISH_LOOP_TOOL: LoopTool = { def: FINISH_TOOL, mutates: true };

/** What comes of an answer: an end, or a word to the model, which is asked again. */
export type Judged = { readonly ending: Ending } | { readonly again: string };

/** Whether what a model gives as its answer is one: for all of a turn, so that it is asked again only so often. */
export class AnswerJudge {
  readonly #check: SchemaCheck | undefined;
  #reasks: number;

  constructor(schema: JsonSchema | undefined, reasks: number) {
    this.#check = schema === undefined ? undefined : new SchemaCheck(schema);
    this.#reasks = reasks;
  }

  /** How often the answer was asked for again. */
  get reasks(): number {
    return this.#reasks;
  }

  /** Judges a text that calls for nothing more. */
  judgeText(text: string): Judged {
    if (this.#check === undefined) return { ending: { status: "completed", text } };
    const found = readJson(text);
    const fault = found === undefined ? "found no JSON in it" : this.#check.findFault(found.value);
    if (fault === undefined) return { ending: { status: "completed", text, value: found!.value } };
    return this.#again(
      fault,
      `[boll] The answer does not fit what was asked for: ${fault}. Answer again, with the JSON value and nothing else.`,
    );
  }

  /** Judges a call of `finish`. */
  judgeFinish(args: unknown): Judged {
    const wrong = findArgumentFault(FINISH_LOOP_TOOL, args);
    if (wrong !== undefined) return this.#again(wrong, wrong);
    const finish = readFinish(args);
    const { status, output, reason } = finish;
    const why = reason === "" ? {} : { reason };
    if (status !== "completed") return { ending: { status, ...why, ...asAnswer(output), finish } };
    const fitted = this.#fit(output);
    if ("fault" in fitted) return this.#again(fitted.fault, `Call finish: the output does not fit: ${fitted.fault}`);
    return { ending: { status, ...why, ...asAnswer(fitted.value), finish } };
  }

  /** The value that fits the schema; a text may hold it. */
  #fit(output: unknown): { readonly value: unknown } | { readonly fault: string } {
    const fault = this.#check?.findFault(output);
    if (fault === undefined) return { value: output };
    if (typeof output !== "string") return { fault };
    const found = readJson(output);
    if (found === undefined) return { fault };
    const inner = this.#check?.findFault(found.value);
    return inner === undefined ? found : { fault: inner };
  }

  #again(fault: string, again: string): Judged {
    if (++this.#reasks <= MAX_REASKS) return { again };
    const message = `The answer did not fit what was asked for, ${MAX_REASKS + 1} times: ${fault}`;
    return { ending: { status: "failed", reason: message, error: { code: "answer.invalid", message } } };
  }
}

/** What a model gave as its output, as text and as a value. */
function asAnswer(output: unknown): { readonly text: string; readonly value?: unknown } {
  return typeof output === "string" ? { text: output } : { text: JSON.stringify(output), value: output };
}
