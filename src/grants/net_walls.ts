import { type NetEntry, type NetScheme, parseNetEntry } from "../manifest/mod.ts";
import type { Grants } from "./grants.ts";

/** What the network of a cell depends on beside its grants. */
export interface NetPlaces {
  /** The gate's port on 127.0.0.1; needed with any `https`, `http` or `tcp` entry. */
  readonly gatePort?: number;
  /** The peers of `udp` entries that are names, as `address:port`: resolved once, by the parent. */
  readonly udpPeers?: readonly string[];
}

const THROUGH_GATE: ReadonlySet<NetScheme> = new Set(["https", "http", "tcp"]);
const DNS_PORT = 53;

type Net = Pick<Grants, "net">;

/** Whether any entry has one of these schemes. */
export function hasScheme({ net }: Net, ...schemes: readonly NetScheme[]): boolean {
  return net.some((entry) => schemes.some((scheme) => entry.startsWith(`${scheme}:`)));
}

/** The ports a guest may listen on, ascending. */
export function listenPorts(grants: Net): number[] {
  return portsOf(grants, ({ scheme }) => scheme === "listen");
}

/**
 * The TCP ports that the gate itself connects to, ascending: those of its entries, and of DNS, which goes over TCP when
 * an answer is long. With an upstream proxy its port, and of the entries only those of loopback, which no proxy reaches.
 * Empty when nothing goes through the gate.
 */
export function gatePorts(grants: Net, proxy?: { readonly port: number }): number[] {
  if (!hasScheme(grants, ...THROUGH_GATE)) return [];
  const ports = portsOf(
    grants,
    (entry) => THROUGH_GATE.has(entry.scheme) && (proxy === undefined || isLoopback(entry)),
  );
  return [...new Set([...ports, ...(proxy === undefined ? [] : [proxy.port]), DNS_PORT])].sort((a, b) => a - b);
}

function isLoopback({ literal, host }: NetEntry): boolean {
  return literal && (host === "localhost" || host === "::1" || host.startsWith("127."));
}

/**
 * The net list of a guest's thread: the gate, and what the runtime compares before the gate is asked. A `tcp` entry
 * adds nothing: its connections are made to the gate. `*.name` is in Deno's list the name itself too, which wall 1 and
 * the gate refuse.
 * @throws {TypeError} for entries that need a gate where there is none
 */
export function toNetPermissions(grants: Net, places: NetPlaces): string[] {
  const entries = grants.net.map(parseNetEntry);
  return [...new Set([...toGate(grants, places), ...entries.flatMap(listOf), ...(places.udpPeers ?? [])])];
}

/** The gate's port in a list, as wall 4 allows it. @throws {TypeError} for entries that need a gate where there is none */
export function gatePortOf(grants: Net, { gatePort }: NetPlaces): number[] {
  if (gatePort !== undefined) return grants.net.length === 0 ? [] : [gatePort];
  if (hasScheme(grants, ...THROUGH_GATE)) throw new TypeError("The network is granted and has no gate");
  return [];
}

function toGate(grants: Net, places: NetPlaces): string[] {
  return gatePortOf(grants, places).map((port) => `127.0.0.1:${port}`);
}

function listOf({ scheme, host, port, wildcard }: NetEntry): string[] {
  const name = `${wildcard ? "*." : ""}${host.includes(":") ? `[${host}]` : host}:${port}`;
  switch (scheme) {
    case "https":
    case "http":
      return [name];
    case "tcp":
      return [];
    case "udp":
      return [name, "0.0.0.0:0", "[::]:0"]; // the runtime compares where a datagram socket is bound, too
    case "listen":
      return [name, `[::1]:${port}`];
  }
}

function portsOf({ net }: Net, matches: (entry: NetEntry) => boolean): number[] {
  return [...new Set(net.map(parseNetEntry).filter(matches).map(({ port }) => port))].sort((a, b) => a - b);
}
