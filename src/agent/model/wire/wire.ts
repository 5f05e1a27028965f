import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ModelEndpoint, WireDialect } from "./model_endpoint.ts";

/** What a provider's library is given: no credential, and a `fetch` that adds it. */
export interface WireOptions {
  readonly endpoint: ModelEndpoint;
  readonly model: string;
  readonly fetch: typeof globalThis.fetch;
}

/** Opens the library of one dialect, for one attempt. */
export type OpenWire = (options: WireOptions) => LanguageModelV4;

/** Loads the library of a dialect: nobody pays for the other. */
export async function loadWire(dialect: WireDialect): Promise<OpenWire> {
  switch (dialect) {
    case "openai":
      return (await import("./openai_wire.ts")).openWire;
    case "anthropic":
      return (await import("./anthropic_wire.ts")).openWire;
  }
}
