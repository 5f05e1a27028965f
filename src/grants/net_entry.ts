import {
  isIpLiteral,
  matchesHost,
  type NetEntry,
  type NetScheme,
  normalizeHost,
  parseNetEntry,
} from "../manifest/mod.ts";

/** Where a guest wants to go, or for `listen` where it wants to listen. */
export interface NetTarget {
  readonly scheme: NetScheme;
  /** As the guest wrote it; it is normalised here, and what is no host matches nothing. */
  readonly host: string;
  readonly port: number;
}

/**
 * The first entry that allows this target, or undefined: the one matcher of the guest's host and of the gate. Scheme
 * and port are equal; the host is equal, or a name below a wildcard's. `localhost` is no address and an address no
 * name: nothing is resolved here. For `listen` either loopback address is the entry's. Pure.
 */
export function matchesNet(entries: readonly NetEntry[], target: NetTarget): NetEntry | undefined {
  const host = normalizeHost(target.host);
  if (host === undefined) return undefined;
  return entries.find((entry) =>
    entry.scheme === target.scheme && entry.port === target.port && matchesHost(entry, host)
  );
}

/** Entries in their canonical form, sorted, each once: `Grants.net`. @throws {CapsuleError} `grant.bad_net` */
export function canonicalNet(entries: readonly string[]): readonly string[] {
  return [...new Set(entries.map((entry) => parseNetEntry(entry).text))].sort();
}

/**
 * What two lists both allow, in the form of `Grants.net`: an entry below a wildcard remains, the wildcard does not.
 * Idempotent, commutative, associative.
 */
export function intersectNet(one: readonly string[], other: readonly string[]): readonly string[] {
  const [left, right] = [one.map(parseNetEntry), other.map(parseNetEntry)];
  return [...new Set(left.flatMap((a) => right.flatMap((b) => meet(a, b)?.text ?? [])))].sort();
}

function meet(one: NetEntry, other: NetEntry): NetEntry | undefined {
  if (one.scheme !== other.scheme || one.port !== other.port) return undefined;
  if (one.text === other.text || isBelow(one, other)) return one;
  return isBelow(other, one) ? other : undefined;
}

/** Whether all that `inner` names lies below the wildcard `outer`. */
function isBelow(inner: NetEntry, outer: NetEntry): boolean {
  return outer.wildcard && !isIpLiteral(inner.host) && inner.host.endsWith(`.${outer.host}`);
}
