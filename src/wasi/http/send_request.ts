import { normalizeHost } from "../../grants/mod.ts";
import { failureOfWire } from "../net/gate_error.ts";
import type { Place } from "../net/gate_way.ts";
import type { NetCheck } from "../net/net_check.ts";
import { WireFailure } from "../net/wire_failure.ts";
import { exchange, type HopRequest, type Ways } from "./exchange.ts";
import type { FieldEntry } from "./fields.ts";
import type { HttpError } from "./http_error.ts";
import type { ReceivedResponse } from "./incoming_message.ts";
import type { RequestParts } from "./outgoing_message.ts";
import { readAuthority } from "./request_line.ts";
import type { Timeouts } from "./request_options.ts";
import { FirstBody, NO_BODY, type SentBody } from "./sent_body.ts";

/** Redirects that are followed. */
const MAX_REDIRECTS = 10;
const MAX_PATH_CHARACTERS = 32_768;
const MAX_SECTION_BYTES = 60_000;
const CREDENTIALS: ReadonlySet<string> = new Set(["authorization", "cookie", "cookie2"]);
const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/** Where a request goes. */
interface Target {
  readonly scheme: "http" | "https";
  readonly place: Place;
  readonly path: string;
}

/**
 * The first hop of a request, checked: a place that it names, a size that a message may have, and an entry that allows
 * it. A refusal is told.
 * @throws HttpError
 */
export function prepareRequest(parts: RequestParts, timeouts: Timeouts, check: NetCheck): HopRequest {
  if (parts.method === "CONNECT") throw { tag: "HTTP-request-method-invalid" } satisfies HttpError;
  const target = readTarget(parts);
  const size = parts.entries.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
  if (size > MAX_SECTION_BYTES) throw { tag: "HTTP-request-header-section-size", val: size } satisfies HttpError;
  if (parts.isLengthBad) throw { tag: "HTTP-request-body-size" } satisfies HttpError;
  const declared = parts.entries.find(([name]) => name.toLowerCase() === "content-length");
  if (parts.body === undefined && declared !== undefined && Number(String.fromCharCode(...declared[1])) > 0) {
    throw { tag: "HTTP-request-body-size", val: 0n } satisfies HttpError;
  }
  requireAllowed(target, check);
  const entries = parts.entries.filter(([name]) => name.toLowerCase() !== "content-length");
  return { ...target, method: parts.method, entries, body: new FirstBody(parts.body), timeouts };
}

/**
 * Sends a prepared request and follows redirects, each matched before it is asked (RFC 9110 §15.4; the rules for method
 * and contents are those of browsers). A redirect that cannot be followed, since it has no place to go or the contents
 * are gone, is the response.
 * @throws WireFailure
 */
export async function sendRequest(
  first: HopRequest,
  ways: Ways,
  check: NetCheck,
  signal: AbortSignal,
): Promise<ReceivedResponse> {
  let hop = first;
  for (let count = 0;; count++) {
    const response = await exchange(ways, hop, signal);
    const next = nextHop(hop, first, response);
    if (next === undefined) return response;
    response.body.cancel();
    if (count === MAX_REDIRECTS) throw new WireFailure({ tag: "loop-detected" }, "unknown");
    try {
      requireAllowed(next, check);
    } catch (error) {
      throw new WireFailure(error as HttpError, "access-denied");
    }
    hop = next;
  }
}

/** What a guest is told of a failed request. */
export function requestError(thrown: unknown): HttpError {
  return failureOfWire(thrown).http;
}

function readTarget({ scheme, authority, pathWithQuery }: RequestParts): Target {
  const invalid: HttpError = { tag: "HTTP-request-URI-invalid" };
  if (scheme !== "http" && scheme !== "https") throw invalid;
  const place = authority === undefined ? undefined : readAuthority(authority, DEFAULT_PORTS[scheme]);
  if (place === undefined) throw invalid;
  const path = pathWithQuery.startsWith("/") ? pathWithQuery : `/${pathWithQuery}`;
  if (path.length > MAX_PATH_CHARACTERS) throw { tag: "HTTP-request-URI-too-long" } satisfies HttpError;
  return { scheme, place, path };
}

function requireAllowed({ scheme, place }: Target, check: NetCheck): void {
  const target = { scheme, ...place };
  if (check.allows(target)) return;
  check.deny(target);
  throw { tag: "HTTP-request-denied" } satisfies HttpError;
}

/** The request that a redirect asks for; undefined when the response is none, or cannot be followed. */
function nextHop(hop: HopRequest, first: HopRequest, response: ReceivedResponse): HopRequest | undefined {
  if (![301, 302, 303, 307, 308].includes(response.status)) return undefined;
  const locations = response.fields.filter(([name]) => name.toLowerCase() === "location").map(([, value]) => value);
  const target = locations.length === 1 ? resolveTarget(locations[0]!, hop) : undefined;
  if (target === undefined) return undefined;
  const isGet = response.status === 303
    ? hop.method !== "HEAD" && hop.method !== "GET"
    : response.status < 303 && hop.method === "POST";
  const body = isGet ? NO_BODY : again(hop, first);
  if (body === undefined) return undefined;
  const isSameOrigin = target.scheme === hop.scheme && target.place.host === hop.place.host &&
    target.place.port === hop.place.port;
  const entries = hop.entries.filter(([name]) => isKept(name.toLowerCase(), isSameOrigin, isGet));
  return { ...target, method: isGet ? "GET" : hop.method, entries, body, timeouts: hop.timeouts };
}

function again(hop: HopRequest, first: HopRequest): SentBody | undefined {
  if (hop.body === NO_BODY) return NO_BODY;
  return first.body instanceof FirstBody ? first.body.again() : undefined;
}

function isKept(name: FieldEntry[0], isSameOrigin: boolean, isBodyDropped: boolean): boolean {
  return (isSameOrigin || !CREDENTIALS.has(name)) && !(isBodyDropped && name.startsWith("content-"));
}

function resolveTarget(location: string, { scheme, place, path }: HopRequest): Target | undefined {
  const authority = place.host.includes(":") ? `[${place.host}]` : place.host;
  const url = URL.parse(location, `${scheme}://${authority}:${place.port}${path}`);
  const next = url?.protocol.slice(0, -1);
  if (url === null || (next !== "http" && next !== "https") || url.username !== "" || url.password !== "") {
    return undefined;
  }
  const host = normalizeHost(url.hostname);
  const target = `${url.pathname}${url.search}`;
  if (host === undefined || target.length > MAX_PATH_CHARACTERS) return undefined;
  return { scheme: next, place: { host, port: Number(url.port) || DEFAULT_PORTS[next] }, path: target };
}
