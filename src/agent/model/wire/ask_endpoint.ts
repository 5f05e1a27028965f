import { CapsuleError } from "../../../base/mod.ts";
import { AttemptFailure, describeNetworkError } from "./attempt_failure.ts";
import { GuardedFetch, type GuardedFetchOptions } from "./guarded_fetch.ts";
import type { ModelAnswer, ModelRequest } from "../model.ts";
import type { WireDialect } from "./model_endpoint.ts";
import { promptOf, toolsOf } from "./prompt.ts";
import { readAnswer } from "./read_answer.ts";
import type { OpenWire } from "./wire.ts";

/** One attempt: who is asked, in which dialect, for which model. */
export interface Attempt extends Omit<GuardedFetchOptions, "signal"> {
  readonly openWire: OpenWire;
  readonly dialect: WireDialect;
  readonly model: string;
}

/**
 * Asks one endpoint once.
 *
 * @throws {AttemptFailure} what another attempt may mend; a `CapsuleError` that none will; the signal's reason
 */
export async function askEndpoint(attempt: Attempt, request: ModelRequest): Promise<ModelAnswer> {
  const { signal } = request;
  signal.throwIfAborted();
  using guarded = new GuardedFetch({ ...attempt, signal });
  try {
    const { endpoint, dialect, model, openWire } = attempt;
    // The same model is the same one behind every endpoint.
    const thinker = `${dialect} ${model}`;
    const { stream } = await openWire({ endpoint, model, fetch: guarded.fetch }).doStream({
      prompt: promptOf(request.messages, thinker),
      tools: toolsOf(request.tools),
      maxOutputTokens: request.maxOutputTokens,
      // What the library says of a reasoning does not name the field that it came in.
      includeRawChunks: dialect === "openai",
      ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    });
    return await readAnswer(stream, { endpoint, thinker, onText: (piece) => request.onText?.(piece) });
  } catch (error) {
    signal.throwIfAborted();
    throw guarded.failure ?? known(error, attempt);
  }
}

/** Without a cause: a library's error holds the request, the answer and its headers. */
function known(error: unknown, { endpoint }: Attempt): Error {
  if (error instanceof AttemptFailure || error instanceof CapsuleError) return error;
  const isOfLibrary = error instanceof Error && error.name.startsWith("AI_") && error.name !== "AI_APICallError";
  return isOfLibrary
    ? new AttemptFailure("unreadable", `${endpoint.label}: its answer cannot be read`)
    : new AttemptFailure("down", `${endpoint.label}: ${describeNetworkError(error)}`);
}
