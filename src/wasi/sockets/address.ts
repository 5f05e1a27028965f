import { isIpLiteral, normalizeHost } from "../../grants/mod.ts";
import type { Place } from "../net/gate_way.ts";
import type { NetworkError } from "./network_error.ts";

/** `ip-address-family`. */
export type Family = "ipv4" | "ipv6";

/** `ip-address`. */
export interface IpAddress {
  readonly tag: Family;
  /** Four bytes or eight words. */
  readonly val: readonly number[];
}

/** `ip-socket-address`. */
export type SocketAddress =
  | { readonly tag: "ipv4"; readonly val: { readonly port: number; readonly address: readonly number[] } }
  | {
    readonly tag: "ipv6";
    readonly val: {
      readonly port: number;
      readonly flowInfo: number;
      readonly address: readonly number[];
      readonly scopeId: number;
    };
  };

/**
 * An address that a guest gave, as host and port.
 * @throws NetworkError `invalid-argument` when it is of the other family, mapped, or no address at all
 */
export function placeOf(given: SocketAddress, family: Family): Place {
  const { port, address } = given?.val ?? {};
  const isPort = Number.isInteger(port) && port >= 0 && port <= 65_535;
  if (given?.tag !== family || !isPort || !Array.isArray(address)) throw "invalid-argument" satisfies NetworkError;
  const host = normalizeHost(addressText({ tag: family, val: address }));
  // An IPv4 address inside an IPv6 one comes out as the former.
  if (host === undefined || familyOf(host) !== family) throw "invalid-argument" satisfies NetworkError;
  return { host, port };
}

/** The family of a normalised address. */
export function familyOf(host: string): Family {
  return host.includes(":") ? "ipv6" : "ipv4";
}

/** Whether it is the address of all interfaces. */
export function isUnspecified(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

/** Whether it is a loopback address. */
export function isLoopback(host: string): boolean {
  return host === "::1" || host.startsWith("127.");
}

/** Whether it is an address of one host. */
export function isUnicast(host: string): boolean {
  if (host.includes(":")) return !/^ff/i.test(host);
  const first = Number(host.split(".")[0]);
  return !(first >= 224 && first <= 239) && host !== "255.255.255.255";
}

/** A normalised address as a guest's value; undefined when the text is none. */
export function ipAddressOf(text: string): IpAddress | undefined {
  const host = normalizeHost(text);
  if (host === undefined || !isIpLiteral(host)) return undefined;
  if (familyOf(host) === "ipv4") return { tag: "ipv4", val: host.split(".").map(Number) };
  const [head = "", tail] = host.split("::");
  const before = words(head);
  const after = tail === undefined ? [] : words(tail);
  const zeroes = new Array(8 - before.length - after.length).fill(0);
  return { tag: "ipv6", val: [...before, ...zeroes, ...after] };
}

/** Host and port as a guest's value. @throws NetworkError `unknown` for a host that is no address */
export function socketAddressOf({ host, port }: Place): SocketAddress {
  const address = ipAddressOf(host);
  if (address === undefined) throw "unknown" satisfies NetworkError;
  if (address.tag === "ipv4") return { tag: "ipv4", val: { port, address: address.val } };
  return { tag: "ipv6", val: { port, flowInfo: 0, address: address.val, scopeId: 0 } };
}

function addressText({ tag, val }: IpAddress): string {
  if (tag === "ipv4") return val.length === 4 ? val.map(Number).join(".") : "";
  return val.length === 8 ? val.map((word) => Number(word).toString(16)).join(":") : "";
}

function words(text: string): number[] {
  return text === "" ? [] : text.split(":").map((word) => parseInt(word, 16));
}
