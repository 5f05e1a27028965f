import { CapsuleError } from "../../base/mod.ts";
import type { BudgetGrant, ToolAnswer } from "../../protocol/control/mod.ts";
import type { SessionChannel } from "./session_channel.ts";

/** Requests that may wait for their answers at once. */
export const MAX_REQUESTS = 192;

/** What became of a request. */
export type ToolReply = Pick<ToolAnswer, "result" | "is_error">;

/** What became of a request to spend. */
export type BudgetReply = Pick<BudgetGrant, "ok" | "wait_ms" | "model" | "reason">;

/** How long to wait before asking again when too much is asked already, ms. */
const CROWDED_WAIT_MS = 1_000;

type Pending =
  | { readonly type: "tool_result"; readonly settle: (reply: ToolReply) => void }
  | { readonly type: "budget_grant"; readonly settle: (reply: BudgetReply) => void };

/** What a session asks of its supervisor and has no answer to yet, by number. */
export class ToolRequests {
  readonly #channel: Pick<SessionChannel, "send">;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  constructor(channel: Pick<SessionChannel, "send">) {
    this.#channel = channel;
  }

  /** Asks for a tool of the supervisor's, under a key that is the same when it is replayed, if it has one. Never rejects, and has no end where the supervisor has gone. */
  async ask(name: string, args: unknown, key?: string): Promise<ToolReply> {
    if (this.#pending.size >= MAX_REQUESTS) {
      return { result: `${MAX_REQUESTS} requests are waiting for their answers already`, is_error: true };
    }
    const id = ++this.#lastId;
    return await new Promise((settle) => {
      this.#pending.set(id, { type: "tool_result", settle });
      const keyed = key === undefined ? {} : { idempotency_key: key };
      this.#channel.send({ type: "tool_request", id, name, args, ...keyed });
    });
  }

  /** Asks whether so many tokens may be spent. Never rejects, and has no end where the supervisor has gone. */
  async askBudget(estimate: number): Promise<BudgetReply> {
    if (this.#pending.size >= MAX_REQUESTS) return { ok: false, wait_ms: CROWDED_WAIT_MS };
    const id = ++this.#lastId;
    return await new Promise((settle) => {
      this.#pending.set(id, { type: "budget_grant", settle });
      this.#channel.send({ type: "budget_request", id, estimate });
    });
  }

  /**
   * Takes an answer; false when nobody waits for it (any more).
   * @throws `protocol.unexpected` when something else was asked under its number
   */
  settle(answer: ToolAnswer | BudgetGrant): boolean {
    const pending = this.#pending.get(answer.id);
    if (pending === undefined) return false;
    this.#pending.delete(answer.id);
    if (pending.type === "tool_result" && answer.type === "tool_result") {
      const { result, is_error } = answer;
      pending.settle({ result, is_error });
    } else if (pending.type === "budget_grant" && answer.type === "budget_grant") {
      const { ok, wait_ms, model, reason } = answer;
      pending.settle({
        ok,
        wait_ms,
        ...(model === undefined ? {} : { model }),
        ...(reason === undefined ? {} : { reason }),
      });
    } else {
      throw new CapsuleError("protocol.unexpected", `Read a message: ${answer.type} answers a request of another kind`);
    }
    return true;
  }
}
