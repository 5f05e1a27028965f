/**
 * Why the gate did not do what it was asked: the value of the header `x-boll-error`, named after the error codes of
 * `wasi:http` where there is one.
 */
export type GateError =
  | "bad-request"
  | "unauthorized"
  | "denied"
  | "destination-ip-prohibited"
  | "dns-error"
  | "dns-timeout"
  | "connection-refused"
  | "connection-timeout"
  | "connection-terminated"
  | "connection-limit-reached"
  | "destination-unavailable"
  | "http-protocol-error"
  | "bytes-limit"
  | "upstream-failed"
  | "closed";

/** Error → status of the gate's own answer. */
const STATUS: Readonly<Record<GateError, number>> = {
  "bad-request": 400,
  "unauthorized": 407,
  "denied": 403,
  "destination-ip-prohibited": 403,
  "dns-error": 502,
  "dns-timeout": 504,
  "connection-refused": 502,
  "connection-timeout": 504,
  "connection-terminated": 502,
  "connection-limit-reached": 503,
  "destination-unavailable": 502,
  "http-protocol-error": 502,
  "bytes-limit": 403,
  "upstream-failed": 502,
  "closed": 503,
};

const PHRASE: Readonly<Record<number, string>> = {
  200: "OK",
  400: "Bad Request",
  403: "Forbidden",
  407: "Proxy Authentication Required",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

/** The way out of serving a connection that does not end in one: what to answer, and what to write down. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly error: GateError;
  readonly asked: string | undefined;
  readonly allow: string | undefined;

  /** `message` goes to the client: one line, nothing of a credential, nothing that another cell asked. */
  constructor(error: GateError, message: string, denial: { readonly asked?: string; readonly allow?: string } = {}) {
    super(message);
    this.error = error;
    this.asked = denial.asked;
    this.allow = denial.allow;
  }
}

/** The gate's own answer to a request that it did not pass on. */
export function refusalReply(refusal: Refusal): Uint8Array {
  const { error, asked, allow } = refusal;
  const fields = [`x-boll-error: ${error}`];
  if (asked !== undefined) fields.push(`x-boll-denied: ${allow ?? "none"}`);
  if (error === "unauthorized") fields.push('Proxy-Authenticate: Basic realm="boll"');
  return reply(STATUS[error], fields, { error, message: refusal.message, grant: asked && "net", asked, allow });
}

/** A small answer of the gate itself; the connection ends with it. */
export function reply(status: number, fields: readonly string[], body: object): Uint8Array {
  const bytes = new TextEncoder().encode(JSON.stringify(body) + "\n");
  const head = [
    `HTTP/1.1 ${status} ${PHRASE[status]}`,
    "Content-Type: application/json",
    `Content-Length: ${bytes.length}`,
    "Connection: close",
    ...fields,
  ].join("\r\n");
  const whole = new Uint8Array([...new TextEncoder().encode(`${head}\r\n\r\n`), ...bytes]);
  return whole;
}
