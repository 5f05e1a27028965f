import { CapsuleError } from "../../../base/mod.ts";
import { askEndpoint, type Attempt } from "./ask_endpoint.ts";
import { AttemptFailure } from "./attempt_failure.ts";
import { admit, type Breaker, callOff, CLOSED, countFailure } from "./breaker.ts";
import type { Model, ModelAnswer, ModelHealth, ModelRequest } from "../model.ts";
import { type ModelClock, waitFor } from "../model_clock.ts";
import type { ModelEndpoint } from "./model_endpoint.ts";

/** Waits before the second and the third attempt at an endpoint, milliseconds. */
const RETRY_DELAYS_MS: readonly number[] = [250, 500];

/** A longer rest that an endpoint asks for is not waited for: the next endpoint is asked. */
const MAX_RETRY_AFTER_MS = 30_000;

/** Ways to endpoints on this machine and to all others; they may be one. */
export interface ModelClients {
  readonly direct: Deno.HttpClient;
  readonly outward: Deno.HttpClient;
}

/** What a {@link WireModel} is made of. */
export interface WireModelOptions {
  readonly endpoints: readonly ModelEndpoint[];
  /** All of an attempt but where it goes. */
  readonly attempt: Omit<Attempt, "endpoint" | "client">;
  readonly clients: ModelClients;
  readonly clock: ModelClock;
  onHealth?(health: ModelHealth): void;
}

/** Endpoints of one model over the network: retries, failover, a breaker for each. */
export class WireModel implements Model {
  readonly #options: WireModelOptions;
  readonly #breakers: Breaker[];
  #isAllDown = false;

  constructor(options: WireModelOptions) {
    this.#options = options;
    this.#breakers = options.endpoints.map(() => CLOSED);
  }

  async call(request: ModelRequest): Promise<ModelAnswer> {
    const failures: AttemptFailure[] = [];
    const resettable = noticeResets(request);
    for (const endpoint of this.#options.endpoints) {
      const tried = await this.#tryEndpoint(endpoint, resettable);
      if (!(tried instanceof AttemptFailure)) return tried;
      failures.push(tried);
    }
    throw unreachable(failures);
  }

  close(): void {
    for (const client of new Set(Object.values(this.#options.clients))) client.close();
  }

  /** The answer, or the last failure. */
  async #tryEndpoint(endpoint: ModelEndpoint, request: ResettableRequest): Promise<ModelAnswer | AttemptFailure> {
    let failure: AttemptFailure | undefined;
    for (const delayMs of [0, ...RETRY_DELAYS_MS]) {
      const { retryAfterMs = 0 } = failure ?? {};
      if (retryAfterMs > MAX_RETRY_AFTER_MS) break;
      if (failure !== undefined) await waitFor(this.#options.clock, Math.max(delayMs, retryAfterMs), request.signal);
      const resting = this.#begin(endpoint);
      if (resting !== undefined) return failure ?? resting;
      request.reset();
      const tried = await this.#attempt(endpoint, request);
      if (!(tried instanceof AttemptFailure)) return tried;
      failure = tried;
    }
    return failure!;
  }

  /** Lets an attempt begin, or says why none may. */
  #begin({ index, label }: ModelEndpoint): AttemptFailure | undefined {
    const { clock } = this.#options;
    const admission = admit(this.#breakers[index]!, clock.nowMs());
    if (admission.isAdmitted) {
      this.#breakers[index] = admission.breaker;
      return undefined;
    }
    const { untilMs } = admission;
    const until = untilMs === undefined ? "" : ` for ${Math.ceil((untilMs - clock.nowMs()) / 1_000)} s more`;
    return new AttemptFailure("down", `${label}: it failed before and rests${until}`);
  }

  async #attempt(endpoint: ModelEndpoint, request: ModelRequest): Promise<ModelAnswer | AttemptFailure> {
    const { index } = endpoint;
    const { attempt, clock, clients } = this.#options;
    const settle = (breaker: Breaker) => {
      this.#breakers[index] = breaker;
      this.#reportHealth(endpoint);
    };
    try {
      const answer = await askEndpoint({
        ...attempt,
        endpoint,
        client: endpoint.isLoopback ? clients.direct : clients.outward,
      }, request);
      settle(CLOSED);
      return answer;
    } catch (error) {
      if (error instanceof AttemptFailure) {
        const isLongRest = (error.retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS;
        settle(countFailure(this.#breakers[index]!, clock.nowMs(), isLongRest ? error.retryAfterMs : undefined));
        return error;
      }
      // Whoever refuses is there; what was called off has shown nothing.
      settle(
        error instanceof CapsuleError && !request.signal.aborted
          ? CLOSED
          : callOff(this.#breakers[index]!, clock.nowMs()),
      );
      throw error;
    }
  }

  #reportHealth({ index, transport }: ModelEndpoint): void {
    const isAllDown = this.#breakers.every(({ kind }) => kind !== "closed");
    if (isAllDown === this.#isAllDown) return;
    this.#isAllDown = isAllDown;
    this.#options.onHealth?.(isAllDown ? { all_down: true } : { all_down: false, active: { index, transport } });
  }
}

interface ResettableRequest extends ModelRequest {
  /** Before another attempt: says that what was streamed is void. */
  reset(): void;
}

function noticeResets(request: ModelRequest): ResettableRequest {
  let hasSaid = false;
  return {
    ...request,
    onText(piece) {
      hasSaid = true;
      request.onText?.(piece);
    },
    reset() {
      if (hasSaid) request.onReset?.();
      hasSaid = false;
    },
  };
}

function unreachable(failures: readonly AttemptFailure[]): CapsuleError {
  const reasons = failures.map(({ message }) => message).join("; ");
  if (failures.every(({ kind }) => kind === "unreadable")) {
    return new CapsuleError(
      "model.bad_answer",
      `Read the model's answer: found ${reasons}, wanted one in its dialect, check dialect and uri`,
    );
  }
  return new CapsuleError("model.unreachable", `Reach the model: found ${reasons}`);
}
