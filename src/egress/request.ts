import {
  encodeHead,
  type Field,
  type Framing,
  framingField,
  framingOf,
  type Head,
  HeadFault,
  isToken,
  valuesOf,
} from "../http1/mod.ts";
import { endToEnd } from "./end_to_end.ts";
import { normalizeHost } from "../grants/mod.ts";

/** A host in its one form (names in lower case, addresses without brackets) and a port. */
export interface Authority {
  readonly host: string;
  readonly port: number;
}

/** What a client asks of the gate. */
export type GateRequest =
  | ConnectRequest
  | ForwardRequest
  | ({ readonly kind: "failure" } & Authority);

/** A tunnel, for what the client says it will speak. */
export interface ConnectRequest extends Authority {
  readonly kind: "connect";
  readonly scheme: "https" | "tcp" | undefined;
}

/** One plain request: its head as the origin gets it, and how its body comes. */
export interface ForwardRequest extends Authority {
  readonly kind: "forward";
  readonly method: string;
  readonly framing: Framing;
  readonly head: Uint8Array;
  /** A `Host` field that names another place than the URL does. */
  readonly lie: string | undefined;
}

const FAILURE_PATH = "/failure/";
const NO_BODY: Framing = { kind: "length", bytes: 0 };

/**
 * A head to what it asks: `CONNECT host:port` (a tunnel; the field `x-boll-scheme` says `https` or `tcp`), the absolute
 * form of an `http` URL (one request), or `GET /failure/host:port` (why the last connection there was not made).
 *
 * @throws {HeadFault} when it is none of these, in every detail.
 */
export function readRequest({ line, fields }: Head): GateRequest {
  const [method = "", target = "", version, ...more] = line.split(" ");
  if (!isToken(method) || !/^[\x21-\x7e]+$/.test(target) || more.length > 0) throw new HeadFault("no request line");
  if (version !== "HTTP/1.1") throw new HeadFault("a version that is not HTTP/1.1");
  const hosts = valuesOf(fields, "host");
  if (hosts.length !== 1) throw new HeadFault("not exactly one Host field");
  const framing = framingOf(fields);
  if (method === "CONNECT") return readConnect(target, hosts[0]!, fields, framing);
  if (target.startsWith(FAILURE_PATH) && method === "GET" && framing === undefined) {
    return { kind: "failure", ...parseAuthority(target.slice(FAILURE_PATH.length)) };
  }
  return readForward(method, target, hosts[0]!, fields, framing ?? NO_BODY);
}

function readConnect(
  target: string,
  host: string,
  fields: readonly Field[],
  framing: Framing | undefined,
): GateRequest {
  const authority = parseAuthority(target);
  if (framing !== undefined) throw new HeadFault("a body after CONNECT");
  if (!isSame(parseAuthority(host, authority.port), authority)) throw new HeadFault("a Host that is not the target's");
  const [scheme, ...more] = valuesOf(fields, "x-boll-scheme");
  if (more.length > 0 || (scheme !== undefined && scheme !== "https" && scheme !== "tcp")) {
    throw new HeadFault("a scheme that is neither https nor tcp");
  }
  return { kind: "connect", scheme, ...authority };
}

function readForward(
  method: string,
  target: string,
  host: string,
  fields: readonly Field[],
  framing: Framing,
): GateRequest {
  const [, written = "", rest = ""] = /^http:\/\/([^/?#]*)(.*)$/i.exec(target) ?? [];
  if (written === "") throw new HeadFault("a target that is no http URL with a host");
  if (rest.includes("#")) throw new HeadFault("a fragment in the target");
  const authority = parseAuthority(written, 80);
  const path = rest.startsWith("/") ? rest : `/${rest}`;
  const passed = endToEnd(fields).filter(([name]) => name !== "host");
  const isBodyless = framing.kind === "length" && framing.bytes === 0 &&
    valuesOf(fields, "content-length").length === 0;
  const head = encodeHead(`${method} ${path} HTTP/1.1`, [
    ["host", formatAuthority(authority, 80)],
    ...passed,
    ...(isBodyless ? [] : framingField(framing)),
    ["connection", "close"],
  ]);
  const lie = isSameText(host, authority) ? undefined : host;
  return { kind: "forward", method, framing, head, lie, ...authority };
}

/**
 * `host`, `host:port` or `[address]:port`; without a default the port must be there.
 *
 * @throws {HeadFault} when it is none of these, has user information, or an address in disguise for a host.
 */
export function parseAuthority(text: string, defaultPort?: number): Authority {
  if (text.includes("@")) throw new HeadFault("user information before a host");
  const [, name, digits] = /^(\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z._-]+)(?::([0-9]{1,5}))?$/.exec(text) ?? [];
  const host = name === undefined ? undefined : normalizeHost(name);
  const port = digits === undefined ? defaultPort : Number(digits);
  if (host === undefined) throw new HeadFault("a host that is no name and no address");
  if (port === undefined || port < 1 || port > 65_535) throw new HeadFault("a port that is not 1 to 65535");
  return { host, port };
}

/** The text of an authority; the default port is left out. */
export function formatAuthority({ host, port }: Authority, defaultPort?: number): string {
  const shown = host.includes(":") ? `[${host}]` : host;
  return port === defaultPort ? shown : `${shown}:${port}`;
}

function isSame(left: Authority, right: Authority): boolean {
  return left.host === right.host && left.port === right.port;
}

function isSameText(host: string, authority: Authority): boolean {
  try {
    return isSame(parseAuthority(host, 80), authority);
  } catch {
    return false;
  }
}
