import { HOSTED } from "../hosted.ts";
import { entriesOf, type FieldEntry, Fields, freeze, requireFields, textsOf } from "./fields.ts";
import { BodyContents, OutgoingBody } from "./outgoing_body.ts";
import { isPathWithQuery, type Method, methodText, readAuthority, type Scheme, schemeText } from "./request_line.ts";

/** A request as the guest made it; nothing in it is checked against grants yet. */
export interface RequestParts {
  readonly method: string;
  /** In lower case. */
  readonly scheme: string;
  readonly authority: string | undefined;
  readonly pathWithQuery: string;
  readonly entries: readonly FieldEntry[];
  /** Absent: the guest asked for none. */
  readonly body?: BodyContents;
  /** Whether a Content-Length field is none, or there are several. */
  readonly isLengthBad: boolean;
}

/** A response as the guest made it. */
export interface ResponseParts {
  readonly status: number;
  readonly entries: readonly FieldEntry[];
  readonly body?: BodyContents;
  readonly isLengthBad: boolean;
}

/** What is in a request; for this room alone. */
export let requestPartsOf: (request: OutgoingRequest) => RequestParts;
/** What is in a response; for this room alone. */
export let responsePartsOf: (response: OutgoingResponse) => ResponseParts;

/** `outgoing-request`. */
export class OutgoingRequest {
  readonly #headers: Fields;
  readonly #declared: bigint | undefined | "bad";
  #body: BodyContents | undefined;
  #method: Method = { tag: "get" };
  #pathWithQuery: string | undefined;
  #scheme: Scheme | undefined;
  #authority: string | undefined;

  static {
    requestPartsOf = (request) => ({
      method: methodText(request.#method) ?? "GET",
      scheme: schemeText(request.#scheme) ?? "https",
      authority: request.#authority,
      pathWithQuery: request.#pathWithQuery ?? "",
      entries: entriesOf(request.#headers),
      ...(request.#body === undefined ? {} : { body: request.#body }),
      isLengthBad: request.#declared === "bad",
    });
  }

  constructor(headers: Fields) {
    freeze(requireFields(headers));
    this.#headers = headers;
    this.#declared = declaredLength(entriesOf(headers));
  }

  body(): OutgoingBody {
    if (this.#body !== undefined) throw undefined;
    this.#body = new BodyContents(this.#declared === "bad" ? undefined : this.#declared, "HTTP-request-body-size");
    return new OutgoingBody(HOSTED, this.#body);
  }

  method(): Method {
    return this.#method;
  }

  setMethod(method: Method): void {
    if (methodText(method) === undefined) throw undefined;
    this.#method = method;
  }

  pathWithQuery(): string | undefined {
    return this.#pathWithQuery;
  }

  setPathWithQuery(pathWithQuery: string | undefined): void {
    if (pathWithQuery !== undefined && !isPathWithQuery(pathWithQuery)) throw undefined;
    this.#pathWithQuery = pathWithQuery;
  }

  scheme(): Scheme | undefined {
    return this.#scheme;
  }

  setScheme(scheme: Scheme | undefined): void {
    if (schemeText(scheme) === undefined) throw undefined;
    this.#scheme = scheme;
  }

  authority(): string | undefined {
    return this.#authority;
  }

  setAuthority(authority: string | undefined): void {
    if (authority !== undefined && readAuthority(authority, 1) === undefined) throw undefined;
    this.#authority = authority;
  }

  headers(): Fields {
    return this.#headers;
  }
}

/** `outgoing-response`. */
export class OutgoingResponse {
  readonly #headers: Fields;
  readonly #declared: bigint | undefined | "bad";
  #body: BodyContents | undefined;
  #status = 200;

  static {
    responsePartsOf = (response) => ({
      status: response.#status,
      entries: entriesOf(response.#headers),
      ...(response.#body === undefined ? {} : { body: response.#body }),
      isLengthBad: response.#declared === "bad",
    });
  }

  constructor(headers: Fields) {
    freeze(requireFields(headers));
    this.#headers = headers;
    this.#declared = declaredLength(entriesOf(headers));
  }

  statusCode(): number {
    return this.#status;
  }

  setStatusCode(status: number): void {
    if (!Number.isInteger(status) || status < 100 || status > 999) throw undefined;
    this.#status = status;
  }

  headers(): Fields {
    return this.#headers;
  }

  body(): OutgoingBody {
    if (this.#body !== undefined) throw undefined;
    this.#body = new BodyContents(this.#declared === "bad" ? undefined : this.#declared, "HTTP-response-body-size");
    return new OutgoingBody(HOSTED, this.#body);
  }
}

function declaredLength(entries: readonly FieldEntry[]): bigint | undefined | "bad" {
  const [length, ...more] = textsOf(entries, "content-length");
  if (length === undefined) return undefined;
  return more.length === 0 && /^\d{1,18}$/.test(length) ? BigInt(length) : "bad";
}
