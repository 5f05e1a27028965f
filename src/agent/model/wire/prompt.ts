import type { LanguageModelV4FunctionTool, LanguageModelV4Message } from "@ai-sdk/provider";
import type { Msg, ToolCall, ToolDef } from "../../../protocol/control/mod.ts";

/** The transcript as a provider's library takes it. A note is for people: no model sees it. */
export function promptOf(messages: readonly Msg[]): LanguageModelV4Message[] {
  return messages.flatMap((message, i) => {
    switch (message.role) {
      case "system":
        // A later one would stand where no provider has a place for it.
        return [i === 0 ? { role: "system", content: message.text } : userMessage(message.text)];
      case "user":
        return [userMessage(message.text)];
      case "assistant":
        return assistantMessage(message.text ?? "", message.tool_calls);
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

function assistantMessage(text: string, calls: readonly ToolCall[]): LanguageModelV4Message[] {
  const said = text === "" ? [] : [{ type: "text" as const, text }];
  const called = calls.map(({ id, name, arguments: written }) => ({
    ...{ type: "tool-call" as const, toolCallId: id, toolName: name, input: inputOf(written) },
  }));
  return said.length + called.length === 0 ? [] : [{ role: "assistant", content: [...said, ...called] }];
}

/** What is no object cannot be sent back as arguments: it is shown inside of one. */
function inputOf(written: unknown): unknown {
  const isObject = typeof written === "object" && written !== null && !Array.isArray(written);
  return isObject ? written : { invalid_arguments: written };
}
