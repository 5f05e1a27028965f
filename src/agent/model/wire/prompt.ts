import type { LanguageModelV4FunctionTool, LanguageModelV4Message } from "@ai-sdk/provider";
import type { Msg, ToolDef } from "../../../protocol/control/mod.ts";
import { readReasoning } from "./kept_reasoning.ts";

/**
 * The transcript as a provider's library takes it. A note is for people: no model sees it. What `thinker` thought goes
 * back to it, and nobody else's: a provider refuses a signature that is not its own.
 */
export function promptOf(messages: readonly Msg[], thinker: string): LanguageModelV4Message[] {
  return messages.flatMap((message, i) => {
    switch (message.role) {
      case "system":
        // A later one would stand where no provider has a place for it.
        return [i === 0 ? { role: "system", content: message.text } : userMessage(message.text)];
      case "user":
        return [userMessage(message.text)];
      case "assistant":
        return assistantMessage(message, thinker);
      case "tool": {
        const { id, name, content, is_error } = message;
        const output = { type: is_error ? "error-text" : "text", value: content } as const;
        return [{ role: "tool", content: [{ type: "tool-result", toolCallId: id, toolName: name, output }] }];
      }
      case "note":
        return [];
    }
  });
}

/** The tools as a provider's library takes them. */
export function toolsOf(tools: readonly ToolDef[]): LanguageModelV4FunctionTool[] {
  return tools.map(({ name, description, input_schema }) => ({
    type: "function",
    name,
    ...(description === undefined ? {} : { description }),
    // Both providers want an object's schema, whatever else it says.
    inputSchema: { type: "object", ...(typeof input_schema === "boolean" ? {} : input_schema) },
  }));
}

function userMessage(text: string): LanguageModelV4Message {
  // A block without text is refused.
  return { role: "user", content: [{ type: "text", text: text === "" ? "(empty)" : text }] };
}

type Assistant = Extract<LanguageModelV4Message, { role: "assistant" }>;

/** What was said, called and thought, in the order in which it came. */
function assistantMessage(
  { text = "", tool_calls, reasoning }: Extract<Msg, { role: "assistant" }>,
  thinker: string,
): Assistant[] {
  const kept = reasoning?.model === thinker ? readReasoning(reasoning.kept) : undefined;
  const calls = tool_calls.map(({ id, name, arguments: written }, i) => ({
    ...{ type: "tool-call" as const, toolCallId: id, toolName: name, input: inputOf(written) },
    ...(kept?.calls[i] == null ? {} : { providerOptions: kept.calls[i] }),
  }));
  const content: Assistant["content"] = [];
  let [said, called] = [0, 0];
  const goOn = (chars?: number, count?: number) => {
    const piece = text.slice(said, chars);
    // A block without text is refused.
    if (piece.trim() !== "") content.push({ type: "text", text: piece });
    content.push(...calls.slice(called, count));
    [said, called] = [chars ?? said, count ?? called];
  };
  for (const thought of kept?.thoughts ?? []) {
    goOn(thought.chars, thought.calls);
    if (kept!.field === undefined) {
      // A server without signatures has an empty one: the library sends none without.
      const providerOptions = { anthropic: { signature: "" }, ...thought.metadata };
      content.push({ type: "reasoning", text: thought.text, providerOptions });
    }
  }
  goOn();
  if (content.length === 0) return [];
  const own = kept?.field === undefined ? {} : {
    providerOptions: { openaiCompatible: { [kept.field]: kept.thoughts.map(({ text }) => text).join("") } },
  };
  return [{ role: "assistant", content, ...own }];
}

/** What is no object cannot be sent back as arguments: it is shown inside of one. */
function inputOf(written: unknown): unknown {
  const isObject = typeof written === "object" && written !== null && !Array.isArray(written);
  return isObject ? written : { invalid_arguments: written };
}
