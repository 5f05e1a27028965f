import { CapsuleError } from "../../../base/mod.ts";
import type { Msg, ToolCall } from "../../../protocol/control/mod.ts";
import type { Model, ModelAnswer, ModelRequest } from "../model.ts";
import { type ModelClock, waitFor } from "../model_clock.ts";
import { parsePlaybook, type Playbook, type PlaybookTurn } from "./playbook.ts";

const PREFIX = "data:application/json,";

/** The playbook of `data:application/json,<encodeURIComponent(text)>`. @throws `model.rejected` */
export function playbookOf(uri: string): Playbook {
  if (!uri.startsWith(PREFIX)) throw wrongUri(`something else than ${PREFIX}…`);
  return parsePlaybook(decodeText(uri.slice(PREFIX.length)));
}

function decodeText(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw wrongUri("a text that is not percent-encoded UTF-8");
  }
}

function wrongUri(found: string): CapsuleError {
  return new CapsuleError("model.rejected", `Open the scripted model: found ${found} in uri, wanted its playbook`);
}

/**
 * Plays a playbook without a network. Each call takes the first turn not yet played that fits the newest words of the
 * user or of tools (a turn without `when_contains` fits always), so that turns without conditions are played in order.
 */
export class ScriptedModel implements Model {
  readonly #turns: (PlaybookTurn | undefined)[];
  readonly #clock: ModelClock;

  constructor(playbook: Playbook, clock: ModelClock) {
    this.#turns = [...playbook.turns];
    this.#clock = clock;
  }

  async call({ messages, signal, onText }: ModelRequest): Promise<ModelAnswer> {
    signal.throwIfAborted();
    const turn = takeTurn(this.#turns, newestWords(messages));
    if (turn.delay_ms > 0) await waitFor(this.#clock, turn.delay_ms, signal);
    const { text = "", usage } = turn;
    if (text !== "") onText?.(text);
    return {
      text,
      toolCalls: callsOf(turn, messages),
      usage: usage ?? { input_tokens: 0, output_tokens: 0 },
      isUsageReported: usage !== undefined,
      stop: turn.tool_calls.length > 0 ? "tool_calls" : "end",
      model: "scripted",
    };
  }

  close(): void {}
}

/** Takes the first turn that fits out of `turns`, and leaves a gap there. @throws `model.rejected` when none does */
export function takeTurn(turns: (PlaybookTurn | undefined)[], words: string): PlaybookTurn {
  const at = turns.findIndex((turn) => turn !== undefined && words.includes(turn.when_contains ?? ""));
  const turn = turns[at];
  if (turn !== undefined) {
    turns[at] = undefined;
    return turn;
  }
  const left = turns.filter((turn) => turn !== undefined).length;
  const found = left === 0
    ? `that all its turns (${turns.length}) are played`
    : `that none of the turns left (${left} of ${turns.length}) fits what was said last`;
  throw new CapsuleError("model.rejected", `Play the playbook: found ${found}, wanted another turn, add one to it`);
}

/** What came after the model's last word, from the user and from tools. */
export function newestWords(messages: readonly Msg[]): string {
  const from = messages.findLastIndex(({ role }) => role === "assistant") + 1;
  const words = messages.slice(from).flatMap((message) => {
    if (message.role === "user") return [message.text];
    return message.role === "tool" ? [message.content] : [];
  });
  return words.join("\n");
}

/** Ids count the calls of the transcript: no two in it are the same, whichever model it was begun with. */
function callsOf({ tool_calls }: PlaybookTurn, messages: readonly Msg[]): ToolCall[] {
  const before = messages.reduce(
    (sum, message) => sum + (message.role === "assistant" ? message.tool_calls.length : 0),
    0,
  );
  return tool_calls.map(({ name, arguments: written }, i) => ({
    id: `call_${before + i + 1}`,
    name,
    arguments: structuredClone(written),
  }));
}
