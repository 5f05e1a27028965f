import { HOSTED, requireHosted } from "../hosted.ts";
import { Watched } from "../net/watched.ts";
import { Pollable } from "../pollable.ts";
import type { HttpError } from "./http_error.ts";
import { IncomingResponse, type ReceivedResponse } from "./incoming_message.ts";

/** A response that is on its way. */
export interface PendingResponse {
  readonly response: Promise<ReceivedResponse>;
  /** What its rejection says. */
  errorOf(thrown: unknown): HttpError;
  /** The guest waits for it now. */
  onWait(): void;
  /** Not wanted any more. */
  cancel(): void;
}

type Settled =
  | { readonly tag: "ok"; readonly val: IncomingResponse }
  | { readonly tag: "err"; readonly val: HttpError };

/** `future-incoming-response`. Dropping it before the response is there takes the request back. */
export class FutureIncomingResponse {
  readonly #pending: PendingResponse;
  readonly #readiness: Watched;
  #settled: Settled | undefined;
  #isTaken = false;

  constructor(key: typeof HOSTED, pending: PendingResponse) {
    requireHosted(key);
    this.#pending = pending;
    this.#readiness = new Watched(() => this.#settled !== undefined, () => pending.onWait());
    pending.response.then(
      (received) => this.#settle({ tag: "ok", val: new IncomingResponse(HOSTED, received) }),
      (thrown) => this.#settle({ tag: "err", val: pending.errorOf(thrown) }),
    );
  }

  subscribe(): Pollable {
    return new Pollable(HOSTED, this.#readiness);
  }

  get(): { tag: "ok"; val: Settled } | { tag: "err"; val?: undefined } | undefined {
    if (this.#settled === undefined) return undefined;
    if (this.#isTaken) return { tag: "err" };
    this.#isTaken = true;
    return { tag: "ok", val: this.#settled };
  }

  [Symbol.dispose](): void {
    if (!this.#isTaken) this.#pending.cancel();
  }

  #settle(settled: Settled): void {
    this.#settled = settled;
    this.#readiness.wake();
  }
}
