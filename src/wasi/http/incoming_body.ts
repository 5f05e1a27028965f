import { HOSTED, requireHosted } from "../hosted.ts";
import { InputStream } from "../input_stream.ts";
import { type Pull, PulledSource } from "../net/pulled_source.ts";
import { ALWAYS_READY, Pollable } from "../pollable.ts";
import type { Fields } from "./fields.ts";
import type { HttpError } from "./http_error.ts";

/** The contents of a message that came from outside. */
export interface ReceivedBody {
  readonly pull: Pull;
  /** Not wanted any more: what still comes is thrown away. Called once or more, also at the end. */
  cancel(): void;
}

/** `incoming-body`. Dropping it, or its stream, before the end takes the rest back. */
export class IncomingBody {
  readonly #received: ReceivedBody;
  #isStreamed = false;

  constructor(key: typeof HOSTED, received: ReceivedBody) {
    requireHosted(key);
    this.#received = received;
  }

  stream(): InputStream {
    if (this.#isStreamed) throw undefined;
    this.#isStreamed = true;
    return new InputStream(HOSTED, new PulledSource(this.#received.pull, () => this.#received.cancel()));
  }

  static finish(body: IncomingBody): FutureTrailers {
    if (!(body instanceof IncomingBody)) throw new TypeError("Finish a body: found another type");
    body.#received.cancel();
    return new FutureTrailers(HOSTED);
  }

  [Symbol.dispose](): void {
    this.#received.cancel();
  }
}

type OnceResult<T> = { readonly tag: "ok"; readonly val: T } | { readonly tag: "err"; readonly val?: undefined };
type Trailers = { readonly tag: "ok"; readonly val: Fields | undefined } | { readonly tag: "err"; val: HttpError };

/** `future-trailers`: at once, and none. Trailers that were sent are read over. */
export class FutureTrailers {
  #isTaken = false;

  constructor(key: typeof HOSTED) {
    requireHosted(key);
  }

  subscribe(): Pollable {
    return new Pollable(HOSTED, ALWAYS_READY);
  }

  get(): OnceResult<Trailers> | undefined {
    if (this.#isTaken) return { tag: "err" };
    this.#isTaken = true;
    return { tag: "ok", val: { tag: "ok", val: undefined } };
  }
}
