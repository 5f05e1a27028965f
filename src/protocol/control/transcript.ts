import type { Msg, ToolCall } from "./turn.ts";

/** What stands for an answer that never came. */
export interface MissingAnswer {
  /** Why, for the model to read. */
  readonly content: string;
  readonly ts: number;
}

/**
 * The transcript with every call answered: behind the answers of its round, an error for each that has none. Whatever way
 * out a turn takes, no model accepts a transcript with a call left open. Nothing that is there is changed or moved.
 */
export function sealTranscript(messages: readonly Msg[], { content, ts }: MissingAnswer): Msg[] {
  const sealed: Msg[] = [];
  let open: readonly ToolCall[] = [];
  const answerOpen = () => {
    for (const { id, name } of open) sealed.push({ role: "tool", id, name, content, is_error: true, ts });
    open = [];
  };
  for (const message of messages) {
    if (message.role === "tool") open = withoutFirst(open, message.id);
    // A note is for people: no model sees it, so it ends no round.
    else if (message.role !== "note") answerOpen();
    sealed.push(message);
    if (message.role === "assistant") open = message.tool_calls;
  }
  answerOpen();
  return sealed;
}

/** A model may use an id twice in one round, and gets two answers then. */
function withoutFirst(calls: readonly ToolCall[], id: string): readonly ToolCall[] {
  const at = calls.findIndex((call) => call.id === id);
  return at < 0 ? calls : calls.toSpliced(at, 1);
}
