import { CapsuleError } from "../../../base/mod.ts";
import { AttemptFailure, describeNetworkError, quoteServer } from "./attempt_failure.ts";
import type { ModelClock } from "../model_clock.ts";
import type { ModelCredentials, ModelEndpoint } from "./model_endpoint.ts";

/** Bounds of an answer: bytes on the wire, bytes of an error's text that are read, milliseconds without a byte. */
const WIRE_LIMITS = { bytes: 16 * 1024 * 1024, errorBytes: 16 * 1024, silenceMs: 60_000 } as const;

/** Statuses of the 4xx that may become better by themselves. */
const PASSING: ReadonlySet<number> = new Set([408, 409, 425, 429]);

/** What {@link GuardedFetch} stands between. */
export interface GuardedFetchOptions {
  readonly endpoint: ModelEndpoint;
  readonly credentials: ModelCredentials;
  /** The name of the variable that holds the credential. */
  readonly credential: string | undefined;
  readonly client: Deno.HttpClient;
  readonly clock: ModelClock;
  readonly signal: AbortSignal;
}

/**
 * The `fetch` of one attempt. It alone adds the credential, so that no library ever has it; it follows no redirect, reads
 * no more than the bounds, and gives up a silent server. Why it failed is kept: a library on the way up would change it.
 */
export class GuardedFetch implements Disposable {
  readonly #options: GuardedFetchOptions;
  readonly #abort = new AbortController();
  /** Rejects when the attempt is called off. */
  readonly #calledOff = Promise.withResolvers<never>();
  readonly #callOff = () => this.#stop(this.#options.signal.reason);
  #failure: AttemptFailure | CapsuleError | undefined;
  #stopTimer = () => {};

  constructor(options: GuardedFetchOptions) {
    this.#options = options;
    this.#calledOff.promise.catch(() => {});
    options.signal.addEventListener("abort", this.#callOff, { once: true });
  }

  /** The first failure. */
  get failure(): AttemptFailure | CapsuleError | undefined {
    return this.#failure;
  }

  /** To be given to a library as its `fetch`. */
  readonly fetch = async (input: URL | RequestInfo, init: RequestInit = {}): Promise<Response> => {
    const { endpoint, client, signal } = this.#options;
    this.#listen();
    const answering = fetch(this.#checkUrl(input), {
      ...{ method: "POST", body: init.body ?? null, headers: this.#headersOf(init), redirect: "manual", client },
      signal: this.#abort.signal,
    });
    const response = await this.#orCalledOff(answering).catch((error) => {
      throw this.#failure ?? (signal.aborted ? signal.reason : this.#fail(down(endpoint, describeNetworkError(error))));
    });
    this.#listen();
    if (!response.ok) throw this.#fail(await this.#refusalOf(response));
    return this.#bound(response);
  };

  /** Ends the request, if it still runs. */
  [Symbol.dispose](): void {
    this.#options.signal.removeEventListener("abort", this.#callOff);
    this.#stopTimer();
    this.#stop(undefined);
  }

  #stop(reason: unknown): void {
    this.#calledOff.reject(reason);
    this.#abort.abort(reason);
  }

  /** An abort alone does not end a body's read every time (Deno 2.7: 1 in some 50, under load). */
  #orCalledOff<T>(promise: Promise<T>): Promise<T> {
    return Promise.race([promise, this.#calledOff.promise]);
  }

  #fail(failure: AttemptFailure | CapsuleError): AttemptFailure | CapsuleError {
    this.#failure ??= failure;
    this.#stopTimer();
    return this.#failure;
  }

  /** Begins to count the silence anew. */
  #listen(): void {
    const { clock, endpoint } = this.#options;
    this.#stopTimer();
    this.#stopTimer = clock.after(WIRE_LIMITS.silenceMs, () => {
      this.#stop(this.#fail(down(endpoint, `it was silent for ${WIRE_LIMITS.silenceMs / 1_000} s`)));
    });
  }

  #checkUrl(input: URL | RequestInfo): string {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== this.#options.endpoint.url.origin) throw new TypeError("Ask the model: found another origin");
    return url.href;
  }

  #headersOf({ headers }: RequestInit): Headers {
    const all = new Headers(headers);
    all.delete("authorization");
    all.delete("x-api-key");
    all.set("user-agent", "boll");
    for (const [name, value] of this.#options.credentials.headers) all.set(name, value);
    return all;
  }

  async #refusalOf(response: Response): Promise<AttemptFailure | CapsuleError> {
    const { endpoint, credential } = this.#options;
    const { status } = response;
    if (status >= 300 && status < 400) {
      await response.body?.cancel();
      const found = `a redirect (${status}) from ${endpoint.label}, which is not followed with a credential`;
      return new CapsuleError("model.rejected", `Ask the model: found ${found}, wanted its own answer, check uri`);
    }
    if (status === 401 || status === 403) {
      await response.body?.cancel();
      const check = credential === undefined || credential === ""
        ? "name its variable as api_key, or with --api-key"
        : `check the variable ${credential}`;
      const found = `status ${status} from ${endpoint.label}`;
      return new CapsuleError(
        "model.unauthorized",
        `Ask the model: found ${found}, wanted a credential that it takes, ${check}`,
      );
    }
    if (status < 400 || status >= 500 || PASSING.has(status)) {
      await response.body?.cancel();
      return down(endpoint, `status ${status}`, retryAfterOf(response));
    }
    const says = quoteServer(await this.#readError(response), this.#options.credentials.secrets);
    return new CapsuleError("model.rejected", `Ask the model: found status ${status} from ${endpoint.label}${says}`);
  }

  /** The message of an error's JSON, else the beginning of what is there. */
  async #readError(response: Response): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    try {
      const body = response.body === null ? [] : this.#watch(response.body.getReader(), () => new Error("too large"));
      for await (const bytes of body) {
        text += decoder.decode(bytes, { stream: true });
        if (text.length > WIRE_LIMITS.errorBytes) break;
      }
    } catch {
      // What came is what there is to say.
    }
    try {
      const message = JSON.parse(text)?.error?.message;
      return typeof message === "string" ? message : text;
    } catch {
      return text;
    }
  }

  #bound(response: Response): Response {
    const { endpoint } = this.#options;
    const type = response.headers.get("content-type") ?? "";
    if (response.body === null || /^(application\/json|text\/html)\b/i.test(type)) {
      response.body?.cancel().catch(() => {});
      throw this.#fail(new AttemptFailure("unreadable", `${endpoint.label}: its answer is no event stream`));
    }
    const tooLarge = () => this.#fail(largeAnswer(endpoint, `${WIRE_LIMITS.bytes / 1024 / 1024} MiB`));
    const { body } = response;
    if (Number(response.headers.get("content-length")) > WIRE_LIMITS.bytes) {
      body.cancel().catch(() => {});
      throw tooLarge();
    }
    return new Response(this.#watch(body.getReader(), tooLarge), {
      status: response.status,
      headers: response.headers,
    });
  }

  #watch(reader: ReadableStreamDefaultReader<Uint8Array>, tooLarge: () => Error): ReadableStream<Uint8Array> {
    let bytes = 0;
    const cancel = (reason: unknown) => reader.cancel(reason).catch(() => {});
    return new ReadableStream({
      pull: async (controller) => {
        try {
          const { value, done } = await this.#orCalledOff(reader.read());
          if (done) {
            this.#stopTimer();
            controller.close();
            return;
          }
          this.#listen();
          bytes += value.length;
          if (bytes > WIRE_LIMITS.bytes) throw tooLarge();
          controller.enqueue(value);
        } catch (error) {
          void cancel(error);
          throw error;
        }
      },
      cancel,
    });
  }
}

/** An answer that is beyond a bound: it would be so again. */
export function largeAnswer(endpoint: ModelEndpoint, bound: string): CapsuleError {
  const found = `more than ${bound} from ${endpoint.label}`;
  return new CapsuleError("model.bad_answer", `Read the model's answer: found ${found}, wanted at most that`);
}

function down({ label }: ModelEndpoint, reason: string, retryAfterMs?: number): AttemptFailure {
  return new AttemptFailure("down", `${label}: ${reason}`, retryAfterMs);
}

/** Seconds or a date, as milliseconds from now. */
function retryAfterOf(response: Response): number | undefined {
  const text = response.headers.get("retry-after")?.trim();
  if (text === undefined || text === "") return undefined;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
