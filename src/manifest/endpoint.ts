import { CapsuleError, errorCodeOf, printableLine } from "../base/mod.ts";
import { isIpLiteral, type NetEntry, parseNetEntry } from "./net_entry.ts";

/** Where a model answers, or a peer. */
export interface Endpoint {
  /** Canonical, without a slash at its end. */
  readonly url: string;
  /** As `secrets` lists it. */
  readonly origin: string;
}

const MAX_ENDPOINTS = 8;

/**
 * Reads a comma list of model endpoints, in failover order. `https` anywhere; `http` only on this machine, where nobody
 * else hears what is said.
 * @throws {CapsuleError} `inference.bad_uri`; the message never holds user information
 */
export function parseEndpoints(text: string): readonly Endpoint[] {
  const parts = text.split(",").map((part) => part.trim());
  if (parts.length > MAX_ENDPOINTS) throw bad(text, `it names more than ${MAX_ENDPOINTS} endpoints`);
  const endpoints = parts.map(parseEndpoint);
  const repeated = endpoints.find(({ url }, index) => endpoints.findIndex((other) => other.url === url) < index);
  if (repeated !== undefined) throw bad(repeated.url, "it is named twice, keep one");
  return endpoints;
}

/**
 * Reads one origin of `secrets`, as `https://api.example.com` or `http://127.0.0.1:8080`, to its canonical form.
 * @throws {CapsuleError} `inference.bad_uri`
 */
export function parseOrigin(text: string): string {
  const { scheme, host, wildcard, text: origin } = readEntry(text);
  if (scheme !== "https" && scheme !== "http") throw bad(text, "wanted https://host[:port]");
  if (wildcard) throw bad(text, "a secret goes to origins that are named, not to *");
  if (scheme === "http" && !isLoopback(host)) throw bad(text, "http is for this machine alone, wanted https");
  return origin;
}

/** An entry of the network's language, refused with what is allowed here. */
function readEntry(text: string): NetEntry {
  try {
    return parseNetEntry(text);
  } catch (error) {
    if (errorCodeOf(error) !== "grant.bad_net") throw error;
    const [why] = (error as Error).message.split("; allowed: ");
    throw new CapsuleError("inference.bad_uri", `${why}; wanted https://host[:port]`, { cause: error });
  }
}

/**
 * Reads one endpoint. `https` anywhere; `http` only on this machine.
 * @throws {CapsuleError} `inference.bad_uri`
 */
export function parseEndpoint(text: string): Endpoint {
  const [, origin = "", path = ""] = /^([a-z]+:\/\/[^/?#\\\s]+)([^\s]*)$/i.exec(text) ?? [];
  if (origin === "") throw bad(text, "wanted https://host[:port]/path; a playbook's file is of dialect scripted");
  if (origin.includes("@")) throw bad(text, "user information is not allowed, name the variable in api_key");
  if (!/^[A-Za-z0-9._~/%:+-]*$/.test(path)) {
    throw bad(text, "its path may hold no query, fragment or unusual character");
  }
  if (/(^|\/)(\.|%2e){1,2}(\/|$)/i.test(path)) throw bad(text, "its path may not go up");
  const canonical = parseOrigin(origin);
  return { url: canonical + path.replace(/\/+$/, ""), origin: canonical };
}

/** A name or address of this machine, normalised. */
function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIpLiteral(host) && host.startsWith("127."));
}

function bad(text: string, why: string): CapsuleError {
  const shown = text.includes("@") ? "an endpoint (not shown)" : printableLine(JSON.stringify(text), 120);
  return new CapsuleError("inference.bad_uri", `found ${shown}: ${why}`);
}
