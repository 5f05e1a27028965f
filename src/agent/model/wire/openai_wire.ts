import { OpenAICompatibleChatLanguageModel } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { OpenWire } from "./wire.ts";
import { urlBelow } from "./model_endpoint.ts";

/** OpenAI's chat completions, and what is compatible with them. */
export const openWire: OpenWire = ({ endpoint, model, fetch }): LanguageModelV4 =>
  new OpenAICompatibleChatLanguageModel(model, {
    provider: "openai.chat",
    url: ({ path }) => urlBelow(endpoint, path),
    headers: () => ({}),
    fetch,
    includeUsage: true,
    // Its own endpoint refuses the old name for newer models; others know no other.
    ...(endpoint.url.hostname === "api.openai.com" ? { transformRequestBody: renameMaxTokens } : {}),
  });

function renameMaxTokens({ max_tokens, ...rest }: Record<string, unknown>): Record<string, unknown> {
  return max_tokens === undefined ? rest : { ...rest, max_completion_tokens: max_tokens };
}
