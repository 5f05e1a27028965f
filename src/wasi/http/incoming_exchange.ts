import { HOSTED } from "../hosted.ts";
import { latin1 } from "../net/head.ts";
import { textsOf } from "./fields.ts";
import type { ReceivedBody } from "./incoming_body.ts";
import { IncomingRequest } from "./incoming_message.ts";
import type { BodyContents } from "./outgoing_body.ts";
import type { ResponseParts } from "./outgoing_message.ts";
import { methodOf, type Scheme } from "./request_line.ts";
import { type GuestAnswer, ResponseOutparam } from "./response_outparam.ts";

/** A request as it came in; each character of a value is one byte. */
export interface ServedRequest {
  readonly method: string;
  readonly scheme: "http" | "https";
  readonly authority: string;
  readonly pathWithQuery: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: ReceivedBody;
}

/** What the guest answered. */
export type ServedAnswer =
  | {
    readonly kind: "response";
    readonly status: number;
    readonly fields: readonly (readonly [name: string, value: string])[];
    /** The next piece of the body, or undefined at its end. Rejects when the guest broke it off. */
    take(): Promise<Uint8Array | undefined>;
  }
  /** `detail` is the tag of its error code. */
  | { readonly kind: "error"; readonly detail: string };

/** One request for `wasi:http/incoming-handler`, and what becomes of it. */
export interface IncomingExchange {
  /** For the guest's `handle`. */
  readonly request: IncomingRequest;
  readonly outparam: ResponseOutparam;
  /** Settles when the guest has set its response; never rejects. */
  readonly answer: Promise<ServedAnswer>;
  /** The guest has returned, or is given up: what it has not set or finished by now, it never will. */
  end(): void;
}

/** What a message says of its own connection, and not of what it carries. */
const NOT_PASSED: ReadonlySet<string> = new Set([
  "trailer",
  "connection",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);

/** Makes the resources of one request. */
export function openExchange(served: ServedRequest): IncomingExchange {
  const { promise: answer, resolve } = Promise.withResolvers<ServedAnswer>();
  let contents: BodyContents | undefined;
  const outparam = new ResponseOutparam(HOSTED, (given: GuestAnswer) => {
    const isBodiless = served.method === "HEAD" || (given.kind === "response" && given.response.status === 304);
    if (given.kind === "response") contents = given.response.body;
    if (isBodiless) contents?.allowNone();
    resolve(answerOf(given, isBodiless));
  });
  const request = new IncomingRequest(HOSTED, {
    method: methodOf(served.method),
    scheme: { tag: served.scheme.toUpperCase() } satisfies Scheme,
    authority: served.authority,
    pathWithQuery: served.pathWithQuery,
    fields: served.fields,
    body: served.body,
  });
  return {
    request,
    outparam,
    answer,
    end() {
      outparam[Symbol.dispose]();
      contents?.breakOff({ tag: "HTTP-protocol-error" });
    },
  };
}

function answerOf(given: GuestAnswer, isBodiless: boolean): ServedAnswer {
  if (given.kind === "error") return { kind: "error", detail: String(given.error?.tag).slice(0, 100) };
  return responseOf(given.response, isBodiless);
}

function responseOf({ status, entries, body, isLengthBad }: ResponseParts, isBodiless: boolean): ServedAnswer {
  if (isLengthBad) return { kind: "error", detail: "the response's Content-Length is no length" };
  if (body === undefined && !isBodiless && !textsOf(entries, "content-length").every((length) => /^0+$/.test(length))) {
    return { kind: "error", detail: "the response has a Content-Length and no body" };
  }
  const fields = entries.filter(([name]) => !NOT_PASSED.has(name.toLowerCase()))
    .map(([name, value]) => [name, latin1(value)] as const);
  return { kind: "response", status, fields, take: () => body?.take() ?? Promise.resolve(undefined) };
}
