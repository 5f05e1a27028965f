import { CapsuleError, printableLine } from "../base/mod.ts";

/** What an entry of `grants.net` is about; `listen` accepts connections, the others make them. */
export type NetScheme = "https" | "http" | "tcp" | "udp" | "listen";

/** One entry of `grants.net`, read and normalised. JSON-safe. */
export interface NetEntry {
  readonly scheme: NetScheme;
  /**
   * Lower-case A-labels without a trailing dot, or an IP literal in its one canonical form without brackets (an IPv4
   * address mapped into IPv6 is that IPv4 address). With `wildcard` what stands after `*.`. Of `listen` it is
   * {@link LISTEN_HOST}.
   */
  readonly host: string;
  /** 1 to 65535. */
  readonly port: number;
  /** Any name below `host`, at any depth, and never `host` itself. */
  readonly wildcard: boolean;
  /** `localhost` or an IP literal: only such an entry names a loopback, private or other special address. */
  readonly literal: boolean;
  /** The canonical text: equal exactly when two entries are. A default port is left out. */
  readonly text: string;
}

/** An upstream proxy: a normalised host and its port. */
export interface Proxy {
  readonly host: string;
  readonly port: number;
}

/** Where `listen:PORT` listens: loopback only, so that a grant of a port never opens it to other machines. */
export const LISTEN_HOST = "127.0.0.1";

const ALLOWED = "allowed: https://host[:port], http://host[:port], tcp://host:port, udp://host:port, listen:PORT";

const DEFAULT_PORTS: Readonly<Record<string, number>> = { https: 443, http: 80 };
const SCHEMES: ReadonlySet<string> = new Set(["https", "http", "tcp", "udp"]);
const MAX_ENTRY = 512;

/**
 * Reads one entry of `grants.net` or of `--net`.
 * @throws {CapsuleError} `grant.bad_net`; the message never holds user information
 */
export function parseNetEntry(text: string): NetEntry {
  const refuse = (why: string): never => {
    const shown = text.includes("@") ? "an entry (not shown)" : printableLine(JSON.stringify(text), 80);
    throw new CapsuleError("grant.bad_net", `found ${shown}: ${why}; ${ALLOWED}`);
  };
  if (text.length > MAX_ENTRY) refuse(`it is longer than ${MAX_ENTRY} characters`);
  const listen = /^listen:(.*)$/is.exec(text);
  if (listen !== null) return makeListen(readPort(listen[1]!, refuse));
  const [, scheme = "", rest = ""] = /^([a-z]+):\/\/(.*)$/is.exec(text) ?? refuse("found no scheme") ?? [];
  const kind = scheme.toLowerCase();
  if (!isConnecting(kind)) return refuse(`${printableLine(scheme, 20)} is no scheme of an entry`);
  if (rest.includes("@")) refuse("user information is not allowed");
  if (/[/\\]/.test(rest)) refuse("a path is not allowed, not even /");
  if (/[?#]/.test(rest)) refuse("a query or fragment is not allowed");
  const [, name = "", port] = /^(\[[^\]]*\]|[^:[\]]*)(?::([^:]*))?$/s.exec(rest) ?? refuse("found no host and port") ??
    [];
  const wildcard = name.startsWith("*.");
  const host = readHost(wildcard ? name.slice(2) : name, wildcard, refuse);
  const number = port === undefined ? DEFAULT_PORTS[kind] ?? refuse("the port is missing") : readPort(port, refuse);
  return makeEntry({ scheme: kind, host, port: number, wildcard });
}

/**
 * Reads `proxy` of a `boll.jsonc`: `http://host[:port]`, port 80 when it is left out.
 * @throws {CapsuleError} `grant.bad_net`
 */
export function parseProxy(text: string): Proxy {
  const { scheme, host, port, wildcard } = parseNetEntry(text);
  if (scheme === "http" && !wildcard) return { host, port };
  throw new CapsuleError(
    "grant.bad_net",
    `found ${printableLine(JSON.stringify(text), 80)}, wanted http://host[:port]`,
  );
}

/**
 * The one form of a host as a connection names it: a name, an IPv4 address, an IPv6 address with or without brackets.
 * Undefined for everything that is none, also `127.1`, `0x7f.1`, `2130706433`, `010.0.0.1` and zone identifiers.
 */
export function normalizeHost(text: string): string | undefined {
  if (text.length > MAX_ENTRY) return undefined;
  const bracketed = /^\[([^\]]*)\]$/s.exec(text)?.[1];
  if (bracketed !== undefined || text.includes(":")) return normalizeIpv6(bracketed ?? text);
  const bare = text.endsWith(".") ? text.slice(0, -1) : text;
  if (isIpv4(bare)) return bare === text ? bare : undefined;
  const name = toAscii(bare);
  if (name === undefined || name.length > 253) return undefined;
  const labels = name.split(".");
  if (!labels.every((label) => LABEL.test(label))) return undefined;
  // What a resolver reads as a number is an address in disguise.
  return /^(\d+|0x[0-9a-f]*)$/.test(labels.at(-1)!) ? undefined : name;
}

/** Whether an entry allows this origin, which is one without a wildcard. */
export function allowsOrigin(entry: NetEntry, origin: string): boolean {
  const { scheme, host, port } = parseNetEntry(origin);
  return entry.scheme === scheme && entry.port === port && matchesHost(entry, host);
}

/** Whether a normalised host is the entry's, or below its wildcard. For `listen` either loopback address is. */
export function matchesHost(entry: NetEntry, host: string): boolean {
  if (entry.scheme === "listen") return host === entry.host || host === "::1";
  if (!entry.wildcard) return host === entry.host;
  return !isIpLiteral(host) && host.endsWith(`.${entry.host}`);
}

/** Whether a normalised host is an IP literal. */
export function isIpLiteral(host: string): boolean {
  return host.includes(":") || isIpv4(host);
}

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

function isIpv4(text: string): boolean {
  const octets = text.split(".");
  return octets.length === 4 && octets.every((octet) => /^(0|[1-9]\d{0,2})$/.test(octet) && Number(octet) <= 255);
}

function normalizeIpv6(text: string): string | undefined {
  // The URL parser reads what is written; nothing but these characters may reach it.
  if (!/^[0-9a-f:.]{2,45}$/i.test(text)) return undefined;
  const host = urlHost(`[${text}]`)?.slice(1, -1);
  if (host === undefined) return undefined;
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(host);
  if (mapped === null) return host;
  const [high, low] = [parseInt(mapped[1]!, 16), parseInt(mapped[2]!, 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

function toAscii(name: string): string | undefined {
  // deno-lint-ignore no-control-regex -- ASCII as a whole
  if (/^[\x00-\x7f]*$/.test(name)) {
    const lower = name.toLowerCase();
    // A label that claims to be an A-label must be one.
    return /(^|\.)xn--/.test(lower) ? urlHost(lower) : lower;
  }
  if (/[%:/\\?#@[\]\s]/.test(name)) return undefined;
  const host = urlHost(name);
  // Letters that fold to digits would name an address.
  return host === undefined || isIpv4(host) || host.endsWith(".") ? undefined : host;
}

function urlHost(host: string): string | undefined {
  if (/[%:/\\?#@\s]/.test(host) && !host.startsWith("[")) return undefined;
  try {
    return new URL(`http://${host}/`).hostname;
  } catch {
    return undefined;
  }
}

type Refuse = (why: string) => never;

function readHost(name: string, wildcard: boolean, refuse: Refuse): string {
  if (name === "") return refuse("the host is missing");
  if (name.includes("*")) return refuse("a wildcard is only allowed as the whole first label");
  const host = normalizeHost(name) ??
    refuse("the host is no name, no IPv4 address of four numbers and no [IPv6 address]");
  if (wildcard && isIpLiteral(host)) return refuse("an address takes no wildcard");
  if (wildcard && !host.includes(".")) return refuse("a wildcard needs two labels after it, as in *.example.com");
  if (host === "::" || /^0\.\d+\.\d+\.\d+$/.test(host)) return refuse("this address names no host");
  return host;
}

function readPort(text: string, refuse: Refuse): number {
  const port = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : refuse("the port is not 1 to 65535");
}

function isConnecting(scheme: string): scheme is Exclude<NetScheme, "listen"> {
  return SCHEMES.has(scheme);
}

function makeListen(port: number): NetEntry {
  return { scheme: "listen", host: LISTEN_HOST, port, wildcard: false, literal: true, text: `listen:${port}` };
}

/** An entry from its normalised parts. */
function makeEntry(
  { scheme, host, port, wildcard }: Pick<NetEntry, "scheme" | "host" | "port" | "wildcard">,
): NetEntry {
  const literal = !wildcard && (host === "localhost" || isIpLiteral(host));
  const shown = `${wildcard ? "*." : ""}${host.includes(":") ? `[${host}]` : host}`;
  const text = `${scheme}://${shown}${DEFAULT_PORTS[scheme] === port ? "" : `:${port}`}`;
  return { scheme, host, port, wildcard, literal, text };
}
