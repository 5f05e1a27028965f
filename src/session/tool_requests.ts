import type { ToolAnswer } from "../protocol/control/mod.ts";
import type { SessionChannel } from "./session_channel.ts";

/** Requests that may wait for their answers at once. */
export const MAX_REQUESTS = 192;

/** What became of a request. */
export type ToolReply = Pick<ToolAnswer, "result" | "is_error">;

/** What a session asks of its supervisor and has no answer to yet, by number. */
export class ToolRequests {
  readonly #channel: Pick<SessionChannel, "send">;
  readonly #pending = new Map<number, (reply: ToolReply) => void>();
  #lastId = 0;

  constructor(channel: Pick<SessionChannel, "send">) {
    this.#channel = channel;
  }

  /** Asks for a tool of the supervisor's. Never rejects, and has no end where the supervisor has gone. */
  async ask(name: string, args: unknown): Promise<ToolReply> {
    if (this.#pending.size >= MAX_REQUESTS) {
      return { result: `${MAX_REQUESTS} requests are waiting for their answers already`, is_error: true };
    }
    const id = ++this.#lastId;
    return await new Promise((settle) => {
      this.#pending.set(id, settle);
      this.#channel.send({ type: "tool_request", id, name, args });
    });
  }

  /** Takes an answer; false when nobody waits for it (any more). */
  settle({ id, result, is_error }: ToolAnswer): boolean {
    const settle = this.#pending.get(id);
    if (settle === undefined) return false;
    this.#pending.delete(id);
    settle({ result, is_error });
    return true;
  }
}
