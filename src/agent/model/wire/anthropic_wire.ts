// The package's other door reads the environment while it loads, which a session's worker may not.
import { AnthropicLanguageModel } from "@ai-sdk/anthropic/internal";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { fillUsage } from "./fill_usage.ts";
import { urlBelow } from "./model_endpoint.ts";
import type { OpenWire } from "./wire.ts";

/** Anthropic's messages. */
export const openWire: OpenWire = ({ endpoint, model, fetch }): LanguageModelV4 =>
  new AnthropicLanguageModel(model, {
    provider: "anthropic.messages",
    baseURL: endpoint.url.href,
    buildRequestUrl: () => urlBelow(endpoint, "/messages"),
    headers: () => ({ "anthropic-version": "2023-06-01" }),
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      const { status, headers, body } = response;
      return new Response(body?.pipeThrough(fillUsage()) ?? null, { status, headers });
    },
    supportedUrls: () => ({}),
  });
