import { HOSTED, requireHosted } from "../hosted.ts";
import type { HttpError } from "./http_error.ts";
import { OutgoingResponse, type ResponseParts, responsePartsOf } from "./outgoing_message.ts";

/** What a guest answers a request with. */
export type GuestAnswer =
  | { readonly kind: "response"; readonly response: ResponseParts }
  | { readonly kind: "error"; readonly error: HttpError };

type Given = { readonly tag: "ok"; readonly val: OutgoingResponse } | { readonly tag: "err"; readonly val: HttpError };

/** `response-outparam`. Dropped without an answer it answers with an error. */
export class ResponseOutparam {
  readonly #answer: (answer: GuestAnswer) => void;
  #isAnswered = false;

  /** `answer` is called once. */
  constructor(key: typeof HOSTED, answer: (answer: GuestAnswer) => void) {
    requireHosted(key);
    this.#answer = answer;
  }

  static set(outparam: ResponseOutparam, given: Given): void {
    if (!(outparam instanceof ResponseOutparam)) throw new TypeError("Set a response: found another type");
    const isResponse = given.tag === "ok" && given.val instanceof OutgoingResponse;
    if (!isResponse && given.tag !== "err") throw new TypeError("Set a response: found another type");
    outparam.#tell(
      isResponse
        ? { kind: "response", response: responsePartsOf(given.val as OutgoingResponse) }
        : { kind: "error", error: given.val as HttpError },
    );
  }

  sendInformational(): never {
    throw { tag: "internal-error", val: "informational responses are not supported" } satisfies HttpError;
  }

  [Symbol.dispose](): void {
    this.#tell({ kind: "error", error: { tag: "internal-error", val: "the guest gave no response" } });
  }

  #tell(answer: GuestAnswer): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.#answer(answer);
  }
}
