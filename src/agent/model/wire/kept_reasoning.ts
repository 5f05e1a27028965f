import type { LanguageModelV4StreamPart, SharedV4ProviderMetadata } from "@ai-sdk/provider";

/** More than so many characters of what a model thought on the way to its calls are not kept: then none of it is. */
export const MAX_REASONING = 1024 * 1024;

/** One piece of what a model thought, and where it stood: behind so much of the text and so many of the calls. */
export interface Thought {
  readonly text: string;
  readonly chars: number;
  readonly calls: number;
  /** A provider's own, as a signature: goes back as it came. */
  readonly metadata?: SharedV4ProviderMetadata;
}

/** What goes back with the calls that it led to. */
export interface KeptReasoning {
  readonly thoughts: readonly Thought[];
  /** What a provider said beside each call. */
  readonly calls: readonly (SharedV4ProviderMetadata | null)[];
  /** The name of the field in which an OpenAI-compatible server said it, where that is not the usual one. */
  readonly field?: "reasoning";
}

type Part = LanguageModelV4StreamPart;

/** Gathers what a model thinks while its answer comes. */
export class ReasoningKeeper {
  readonly #thoughts: { text: string; chars: number; calls: number; metadata?: SharedV4ProviderMetadata }[] = [];
  readonly #calls: (SharedV4ProviderMetadata | null)[] = [];
  readonly #open = new Map<string, number>();
  #length = 0;
  #field: "reasoning" | "reasoning_content" | undefined;

  /** Takes a part of the answer; `chars`: of its text so far. */
  add(part: Part, chars: number): void {
    switch (part.type) {
      case "raw":
        this.#field ??= fieldOf(part.rawValue);
        break;
      case "reasoning-start":
        this.#open.set(part.id, this.#thoughts.length);
        this.#thoughts.push({ text: "", chars, calls: this.#calls.length });
        return this.#extend(part.id, "", part.providerMetadata);
      case "reasoning-delta":
        return this.#extend(part.id, part.delta, part.providerMetadata);
      case "reasoning-end":
        return this.#extend(part.id, "", part.providerMetadata);
      case "tool-call":
        this.#calls.push(part.providerMetadata ?? null);
        this.#length += lengthOf(part.providerMetadata);
    }
  }

  /** All of it, as a text; nothing where no call needs it, and where it is too much. */
  get kept(): string | undefined {
    const { length } = this.#calls;
    const isWorthIt = this.#thoughts.length > 0 || this.#calls.some((metadata) => metadata !== null);
    if (length === 0 || !isWorthIt || this.#length > MAX_REASONING) return undefined;
    const all: KeptReasoning = {
      thoughts: this.#thoughts,
      calls: this.#calls,
      ...(this.#field === "reasoning" ? { field: this.#field } : {}),
    };
    return JSON.stringify(all);
  }

  #extend(id: string, delta: string, metadata: SharedV4ProviderMetadata | undefined): void {
    const thought = this.#thoughts[this.#open.get(id) ?? -1];
    this.#length += delta.length + lengthOf(metadata);
    // What is too much is not even held.
    if (thought === undefined || this.#length > MAX_REASONING) return;
    thought.text += delta;
    if (metadata !== undefined) thought.metadata = { ...thought.metadata, ...metadata };
  }
}

/** Takes apart what {@link ReasoningKeeper.kept} gave; nothing of a text that it did not give. */
export function readReasoning(kept: string): KeptReasoning | undefined {
  try {
    const { thoughts, calls, field } = JSON.parse(kept) as KeptReasoning;
    return Array.isArray(thoughts) && Array.isArray(calls)
      ? { thoughts, calls, ...(field === "reasoning" ? { field } : {}) }
      : undefined;
  } catch {
    return undefined;
  }
}

function lengthOf(metadata: SharedV4ProviderMetadata | undefined): number {
  return metadata === undefined ? 0 : JSON.stringify(metadata).length;
}

/** Servers have two names for it, and some take only their own. */
function fieldOf(event: unknown): "reasoning" | "reasoning_content" | undefined {
  const delta = (event as { choices?: { delta?: Record<string, unknown> }[] } | null)?.choices?.[0]?.delta;
  return (["reasoning_content", "reasoning"] as const).find((name) => typeof delta?.[name] === "string");
}
