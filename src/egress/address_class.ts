import { type Address, parseAddress } from "./address.ts";

/** What an address is for. Only `public` may be reached by name; every other one must be named literally. */
export type AddressClass =
  | "public"
  | "loopback"
  | "private"
  | "link-local"
  | "shared"
  | "multicast"
  | "broadcast"
  | "unspecified"
  | "metadata"
  | "documentation"
  | "benchmark"
  | "tunnel"
  | "reserved";

type Range = readonly [prefix: Address, bits: number, kind: AddressClass];

function range(text: string, kind: AddressClass): Range {
  const [address, bits] = text.split("/");
  return [parseAddress(address!)!, Number(bits), kind];
}

/** First match wins; the special-purpose registry of IPv4 (RFC 6890 and its updates), and what clouds answer on. */
const IPV4: readonly Range[] = [
  range("169.254.169.254/32", "metadata"),
  range("169.254.170.2/32", "metadata"), // container credentials
  range("100.100.100.200/32", "metadata"),
  range("168.63.129.16/32", "metadata"), // a public address that only machines of one cloud can reach
  range("192.0.0.192/32", "metadata"),
  range("0.0.0.0/32", "unspecified"),
  range("0.0.0.0/8", "reserved"),
  range("10.0.0.0/8", "private"),
  range("100.64.0.0/10", "shared"),
  range("127.0.0.0/8", "loopback"),
  range("169.254.0.0/16", "link-local"),
  range("172.16.0.0/12", "private"),
  range("192.0.0.0/24", "reserved"),
  range("192.0.2.0/24", "documentation"),
  range("192.88.99.0/24", "tunnel"),
  range("192.168.0.0/16", "private"),
  range("198.18.0.0/15", "benchmark"),
  range("198.51.100.0/24", "documentation"),
  range("203.0.113.0/24", "documentation"),
  range("224.0.0.0/4", "multicast"),
  range("255.255.255.255/32", "broadcast"),
  range("240.0.0.0/4", "reserved"),
];

/** First match wins; what matches nothing and is no global unicast (2000::/3) is `reserved`. */
const IPV6: readonly Range[] = [
  range("fd00:ec2::/32", "metadata"),
  range("fd20:ce::254/128", "metadata"),
  range("::/128", "unspecified"),
  range("::1/128", "loopback"),
  range("2001::/32", "tunnel"), // Teredo
  range("2001:2::/48", "benchmark"),
  range("2001:db8::/32", "documentation"),
  range("2001::/23", "reserved"),
  range("2002::/16", "tunnel"), // 6to4
  range("3fff::/20", "documentation"),
  range("2000::/3", "public"),
  range("fc00::/7", "private"),
  range("fe80::/10", "link-local"),
  range("fec0::/10", "private"), // site-local
  range("ff00::/8", "multicast"),
];

const NAT64 = parseAddress("64:ff9b::")!;

/**
 * The class of an address. Pure, and total: what nobody has said to be public is not. An address translated by NAT64
 * has the class of the IPv4 address in it, since that is where the packets go.
 */
export function classifyAddress(address: Address): AddressClass {
  if (address.length === 4) return lookUp(IPV4, address) ?? "public";
  if (isWithin(address, NAT64, 96)) return classifyAddress(address.slice(12));
  return lookUp(IPV6, address) ?? "reserved";
}

function lookUp(ranges: readonly Range[], address: Address): AddressClass | undefined {
  return ranges.find(([prefix, bits]) => isWithin(address, prefix, bits))?.[2];
}

function isWithin(address: Address, prefix: Address, bits: number): boolean {
  for (let index = 0, rest = bits; rest > 0; index++, rest -= 8) {
    const mask = rest >= 8 ? 255 : (255 << (8 - rest)) & 255;
    if ((address[index]! & mask) !== (prefix[index]! & mask)) return false;
  }
  return true;
}
