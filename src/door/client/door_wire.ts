import { TaskNotCancelableError, TaskNotFoundError } from "@a2a-js/sdk/errors";
import { CapsuleError, errorCodeOf, printableLine } from "../../base/mod.ts";
import type { DoorClientOptions } from "./door_client.ts";
import { EventIds } from "./event_ids.ts";

const STREAM_TYPE = "text/event-stream";

/** The longest answer that is no stream, bytes: it is read whole before anything of it is. */
const MAX_ANSWER = 64 * 1024 * 1024;

/** What {@link watched} tells. */
interface BodyEnds {
  /** A connection that is cut looks like a mistake of the caller's to whoever reads the body. */
  onBreak(): void;
  /** What is wrong once so many more bytes came, if anything: the body ends with it. */
  faultAt(bytes: number): Error | undefined;
}

/** The same body, looked at as it passes. */
function watched(body: ReadableStream<Uint8Array>, { onBreak, faultAt }: BodyEnds): typeof body {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      let fault: Error | undefined;
      try {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        fault = faultAt(value.length);
        if (fault === undefined) return controller.enqueue(value);
      } catch (error) {
        onBreak();
        return controller.error(error);
      }
      controller.error(fault);
      await reader.cancel().catch(() => {});
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** The way to one origin, and the first thing that went wrong on it in words of our own. */
export class DoorWire {
  readonly #origin: string;
  readonly #shown: string;
  readonly #token: string | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #http: Deno.HttpClient;
  readonly #maxBytes: number;
  #bytes = 0;
  #fault: CapsuleError | undefined;
  #ids: EventIds | undefined;
  #lastId: string | undefined;
  #isLost = false;
  /** The body that came last has no end. */
  #isBroken = false;

  constructor({ url, token, signal, maxBytes = Infinity, via }: DoorClientOptions) {
    this.#origin = new URL(url).origin;
    this.#shown = printableLine(this.#origin, 200);
    this.#token = token;
    this.#signal = signal;
    this.#maxBytes = maxBytes;
    this.#http = Deno.createHttpClient({ poolMaxIdlePerHost: 1, ...via });
  }

  /** Options of each call. */
  get call(): { readonly signal?: AbortSignal } {
    return this.#signal === undefined ? {} : { signal: this.#signal };
  }

  close(): void {
    this.#http.close();
  }

  /** Whether what failed last was the way there, or that we took what came too slowly. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** One more event of the stream was told: whoever comes back wants what follows it. Gives whether its id is another. */
  heard(): boolean {
    const last = this.#lastId;
    this.#lastId = this.#ids?.take() ?? last;
    return this.#lastId !== last;
  }

  /** The SDK wraps errors in its own: the fault that was seen on the wire counts for more. */
  async attempt<Value>(ask: () => Promise<Value>): Promise<Value> {
    this.#fault = undefined;
    this.#isLost = false;
    try {
      return await ask();
    } catch (error) {
      const told = this.#fault ?? this.#translate(error);
      this.#isLost = this.#ids?.isError === true || errorCodeOf(told) === "door.unreachable";
      throw told;
    }
  }

  readonly fetch: typeof fetch = async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : String(input));
    if (url.origin !== this.#origin) throw this.#fail("door.refused", `it sends to another place, ${url.origin}`);
    const headers = new Headers((init as RequestInit).headers);
    if (this.#token !== undefined) headers.set("authorization", `Bearer ${this.#token}`);
    this.#ids = undefined;
    this.#isBroken = false;
    const wantsStream = headers.get("accept")?.includes(STREAM_TYPE) ?? false;
    if (wantsStream && this.#lastId !== undefined) headers.set("last-event-id", this.#lastId);
    const signal = this.#signal ?? (init as { signal?: AbortSignal }).signal;
    let response: Response;
    try {
      const options = {
        ...init,
        headers,
        redirect: "manual",
        client: this.#http,
        ...(signal ? { signal } : {}),
      } as const;
      response = await fetch(url, options);
    } catch (error) {
      if (this.#signal?.aborted) throw this.#fail("door.interrupted", "interrupted");
      throw this.#fail(
        "door.unreachable",
        `nobody answers there (${printableLine((error as Error).message.split(": ").at(-1) ?? "", 200)})`,
      );
    }
    const fault = response.ok ? undefined : this.#faultOf(response.status);
    if (fault === undefined) return this.#watch(response);
    await response.body?.cancel();
    throw fault;
  };

  #watch(response: Response): Response {
    const { body, headers, status } = response;
    if (body === null) return response;
    const isStream = response.ok && headers.get("content-type")?.startsWith(STREAM_TYPE) === true;
    let left = isStream ? Infinity : MAX_ANSWER;
    const whole = watched(body, {
      onBreak: () => this.#isBroken = true,
      faultAt: (bytes) => {
        left -= bytes;
        this.#bytes += bytes;
        const most = this.#bytes > this.#maxBytes ? this.#maxBytes : left < 0 ? MAX_ANSWER : undefined;
        if (most === undefined) return undefined;
        return this.#fail("door.refused", `its answer is larger than ${most / 1024 / 1024} MiB`);
      },
    });
    if (!isStream) return new Response(whole, { headers, status });
    this.#ids = new EventIds();
    return new Response(this.#ids.watch(whole) as BodyInit, { headers, status });
  }

  #faultOf(status: number): CapsuleError | undefined {
    switch (status) {
      case 401:
      case 403: {
        const fix = this.#token === undefined
          ? "give one: --token, or BOLL_TOKEN"
          : "the one that was given is not known there";
        return this.#fail("door.unauthenticated", `it wants a token; ${fix}`);
      }
      case 503:
        return this.#fail("door.unreachable", "it is busy or going down; try again");
      case 413:
        return this.#fail("door.refused", "the message is too large for it");
      case 404:
        return this.#fail("door.refused", "no A2A agent is there (404)");
      default:
        return status >= 300 && status < 400
          ? this.#fail("door.refused", "it leads elsewhere, which is not followed")
          : undefined;
    }
  }

  #fail(
    code: "door.refused" | "door.unreachable" | "door.unauthenticated" | "door.interrupted",
    why: string,
  ): CapsuleError {
    return this.#fault ??= new CapsuleError(code, `Ask ${this.#shown}: ${why}`);
  }

  #translate(error: unknown): unknown {
    if (errorCodeOf(error) !== undefined) return error;
    if (this.#signal?.aborted) return this.#fail("door.interrupted", "interrupted");
    if (!(error instanceof Error)) return error;
    if (this.#isBroken) return this.#fail("door.unreachable", "the connection broke off");
    const words = printableLine(error.message, 400);
    if (error instanceof TaskNotFoundError) {
      return new CapsuleError("door.unknown_task", `Ask ${this.#shown}: ${words}`);
    }
    if (error instanceof TaskNotCancelableError) {
      return new CapsuleError("door.refused", `Ask ${this.#shown}: ${words}`);
    }
    return new CapsuleError("door.refused", `Ask ${this.#shown}: ${words}`, { cause: error });
  }
}
