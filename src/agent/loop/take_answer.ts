import type { ToolCall } from "../../protocol/control/mod.ts";
import { isShallow, jsonBytes } from "./bounded_json.ts";
import { boundedText } from "./bounded_content.ts";
import type { ModelAnswer } from "../model/mod.ts";

/** The longest text of one answer that is kept, bytes. */
export const MAX_ANSWER_BYTES = 1024 * 1024;
/** Calls of one round that are taken; what is beyond is left out. */
export const MAX_CALLS = 64;
/** What the arguments of a round have together, bytes. */
const MAX_ARGUMENT_BYTES = 256 * 1024;

/** What stands for arguments that are too large: no JSON object, so that the call is answered by an error. */
const LEFT_OUT = "[left out: too large]";

const ID = /^[A-Za-z0-9_.:-]{1,256}$/;
const MAX_NAME_LENGTH = 64;

/** What of an answer goes into the transcript. */
export interface TakenAnswer {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** Calls that were left out. */
  readonly dropped: number;
}

/**
 * The answer as it can stand in a transcript that any model and any supervisor takes: bounded, each call with an id that
 * no other has, and a name of plain letters. `isKnown` tells the names of tools; no other name becomes one of them.
 */
export function takeAnswer(
  { text, toolCalls }: Pick<ModelAnswer, "text" | "toolCalls">,
  used: Set<string>,
  isKnown: (name: string) => boolean,
): TakenAnswer {
  let room = MAX_ARGUMENT_BYTES;
  const calls = toolCalls.slice(0, MAX_CALLS).map(({ id, name, arguments: args = {} }): ToolCall => {
    const bytes = isShallow(args) ? jsonBytes(args) : Infinity;
    const fits = bytes <= room;
    if (fits) room -= bytes;
    return {
      id: ownId(id, used),
      name: isKnown(name) ? name : strangeName(name, isKnown),
      arguments: fits ? args : LEFT_OUT,
    };
  });
  return { text: boundedText(text, MAX_ANSWER_BYTES).text, calls, dropped: toolCalls.length - calls.length };
}

function ownId(id: string, used: Set<string>): string {
  let own = id;
  for (let i = used.size; !ID.test(own) || used.has(own); i++) own = `call_${i}`;
  used.add(own);
  return own;
}

function strangeName(name: string, isKnown: (name: string) => boolean): string {
  let plain = name.slice(0, MAX_NAME_LENGTH).replace(/[^A-Za-z0-9_-]/g, "_") || "_";
  while (isKnown(plain)) plain = `_${plain}`;
  return plain;
}
