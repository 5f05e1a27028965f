import {
  type CallError,
  decodeToolDescription,
  decodeToolText,
  encodeToolText,
  MAX_TOOL_TEXT_BYTES,
  type ToolCallMessage,
} from "../protocol/mod.ts";
import { isGuestError } from "./classify_thrown.ts";
import { describeThrown } from "./served_instance.ts";
import type { GuestTurns } from "./guest_turns.ts";
import type { ToolInstance } from "./tool_server.ts";

/** How a call ended: what the tool gave, or why it gave nothing. */
export type ToolEnd = { readonly value: unknown } | { readonly error: CallError };

/** Where a call runs. */
export interface ToolRunOptions {
  readonly turns: GuestTurns;
  /** Takes the instance, which does not run again. */
  giveUp(instance: ToolInstance, hasReturned: boolean): void;
}

/** One call in the guests' thread. */
export class ToolRun {
  readonly #call: ToolCallMessage;
  readonly #cancelled = Promise.withResolvers<ToolEnd>();
  readonly #options: ToolRunOptions;
  #isCancelled = false;

  constructor(call: ToolCallMessage, options: ToolRunOptions) {
    this.#call = call;
    this.#options = options;
  }

  /** Gives the call up: its instance does not run again. */
  cancel(): void {
    this.#isCancelled = true;
    this.#cancelled.resolve(CANCELLED);
  }

  /** Lets an instance serve the call. Never rejects. */
  async run(spare: Promise<ToolInstance>): Promise<ToolEnd> {
    let instance: ToolInstance | undefined;
    let end: ToolEnd = CANCELLED;
    try {
      instance = await spare;
      if (this.#isCancelled) return CANCELLED;
      instance.slot.callId = this.#call.id;
      const serving = this.#serve(instance);
      serving.catch(() => {}); // where it is given up, nobody waits for it
      end = await Promise.race([serving, this.#cancelled.promise]);
    } catch (thrown) {
      end = { error: describeThrown(thrown, instance) };
    } finally {
      if (instance !== undefined) this.#options.giveUp(instance, end !== CANCELLED);
    }
    return limitOf(instance) ?? end;
  }

  async #serve({ tool, slot }: ToolInstance): Promise<ToolEnd> {
    const { input } = this.#call;
    this.#options.turns.of(slot).enter(); // its memory is asked for room before it is called
    if (input === undefined) return describe(await tool.describe());
    const text = decodeToolText(input);
    if (text === undefined) return refuse("its input is no text");
    try {
      return answer(true, await tool.invoke(text));
    } catch (thrown) {
      if (isGuestError(thrown)) return answer(false, thrown.payload);
      throw thrown;
    }
  }
}

const CANCELLED: ToolEnd = { error: { kind: "cancelled", detail: "the call was given up" } };

/** A guest may swallow what a limit threw: the host counted. */
function limitOf(instance: ToolInstance | undefined): ToolEnd | undefined {
  const limit = instance?.host.limitReached();
  return limit === undefined ? undefined : { error: { kind: "limit", detail: limit } };
}

function answer(ok: boolean, given: unknown): ToolEnd {
  if (typeof given !== "string") return refuse("it answered with no text");
  const text = encodeToolText(given);
  return text === undefined
    ? refuse(`its answer is larger than ${MAX_TOOL_TEXT_BYTES} bytes`)
    : { value: { ok, text } };
}

/** The parent checks it again: here it is bounded before it travels. */
function describe(given: unknown): ToolEnd {
  const { name, description, inputSchema, mutates } = (given ?? {}) as Record<string, unknown>;
  try {
    return { value: decodeToolDescription({ name, description, input_schema: inputSchema, mutates }) };
  } catch (error) {
    return refuse(`it describes itself beyond bounds: ${error instanceof Error ? error.message : ""}`);
  }
}

function refuse(detail: string): ToolEnd {
  return { error: { kind: "no_response", detail } };
}
