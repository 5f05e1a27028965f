/** What tests of a model share: a clock whose waits are over at once, and a transcript with all that a transcript has. */
import {
  type Model,
  type ModelAnswer,
  type ModelClock,
  type ModelRequest,
  openModel,
} from "../../src/agent/model/mod.ts";
import type { Intelligence, Msg } from "../../src/protocol/control/mod.ts";
import type { ModelServer, ServedDialect } from "./model_server.ts";

/** Waits below this end at once; longer ones only when {@link TestClock.expire} is called. */
const LONG_MS = 60_000;

/** Time that passes as the test says. */
export class TestClock implements ModelClock {
  /** Every short wait there was. */
  readonly waits: number[] = [];
  readonly #open = new Set<() => void>();
  #nowMs = 0;

  nowMs(): number {
    return this.#nowMs;
  }

  after(ms: number, run: () => void): () => void {
    if (ms < LONG_MS) {
      this.waits.push(ms);
      queueMicrotask(run);
      return () => {};
    }
    this.#open.add(run);
    return () => this.#open.delete(run);
  }

  /** Lets so much time pass that no wait is over. */
  advance(ms: number): void {
    this.#nowMs += ms;
  }

  /** Ends the long waits. */
  expire(): void {
    for (const run of [...this.#open]) run();
  }

  /** Long waits that were neither over nor called off. */
  get openWaits(): number {
    return this.#open.size;
  }
}

/** One call, and what was streamed of it: `null` where it began anew. */
export interface Asked {
  readonly answer: ModelAnswer;
  readonly streamed: readonly (string | null)[];
}

export const USER: readonly Msg[] = [{ role: "user", text: "hello", ts: 0 }];

/** Opens the model of a server. */
export function openAt(
  uri: string,
  dialect: ServedDialect,
  more: Parameters<typeof openModel>[1] & Partial<Intelligence> = {},
): Promise<Model> {
  const { token = "sk-secret-0123456789", headers = [], model = "any" } = more;
  return openModel({ uri, dialect, model, token, headers }, { credential: "THE_KEY", ...more });
}

/** Asks once. */
export async function ask(model: Model, more: Partial<ModelRequest> = {}): Promise<Asked> {
  const streamed: (string | null)[] = [];
  const answer = await model.call({
    messages: USER,
    tools: [],
    maxOutputTokens: 100,
    signal: new AbortController().signal,
    onText: (piece) => streamed.push(piece),
    onReset: () => streamed.push(null),
    ...more,
  });
  return { answer, streamed };
}

/** Resolves when the server has so many requests. */
export async function untilAsked(server: ModelServer, count: number): Promise<void> {
  while (server.requests.length < count) await new Promise((resolve) => setTimeout(resolve, 1));
}
