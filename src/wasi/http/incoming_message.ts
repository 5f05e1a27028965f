import { HOSTED, requireHosted } from "../hosted.ts";
import { type Fields, receivedFields } from "./fields.ts";
import { IncomingBody, type ReceivedBody } from "./incoming_body.ts";
import type { Method, Scheme } from "./request_line.ts";

/** A response from outside: its head was read. */
export interface ReceivedResponse {
  readonly status: number;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: ReceivedBody;
}

/** A request from outside. */
export interface ReceivedRequest {
  readonly method: Method;
  readonly pathWithQuery?: string;
  readonly scheme?: Scheme;
  readonly authority?: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: ReceivedBody;
}

/** `incoming-response`. */
export class IncomingResponse {
  readonly #received: ReceivedResponse;
  readonly #headers: Fields;
  #isConsumed = false;

  constructor(key: typeof HOSTED, received: ReceivedResponse) {
    requireHosted(key);
    this.#received = received;
    this.#headers = receivedFields(received.fields);
  }

  status(): number {
    return this.#received.status;
  }

  headers(): Fields {
    return this.#headers;
  }

  consume(): IncomingBody {
    if (this.#isConsumed) throw undefined;
    this.#isConsumed = true;
    return new IncomingBody(HOSTED, this.#received.body);
  }

  [Symbol.dispose](): void {
    if (!this.#isConsumed) this.#received.body.cancel();
  }
}

/** `incoming-request`. */
export class IncomingRequest {
  readonly #received: ReceivedRequest;
  readonly #headers: Fields;
  #isConsumed = false;

  constructor(key: typeof HOSTED, received: ReceivedRequest) {
    requireHosted(key);
    this.#received = received;
    this.#headers = receivedFields(received.fields);
  }

  method(): Method {
    return this.#received.method;
  }

  pathWithQuery(): string | undefined {
    return this.#received.pathWithQuery;
  }

  scheme(): Scheme | undefined {
    return this.#received.scheme;
  }

  authority(): string | undefined {
    return this.#received.authority;
  }

  headers(): Fields {
    return this.#headers;
  }

  consume(): IncomingBody {
    if (this.#isConsumed) throw undefined;
    this.#isConsumed = true;
    return new IncomingBody(HOSTED, this.#received.body);
  }

  [Symbol.dispose](): void {
    if (!this.#isConsumed) this.#received.body.cancel();
  }
}
