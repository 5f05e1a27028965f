import { isIpLiteral, type NetEntry, type NetScheme, normalizeHost } from "../manifest/mod.ts";

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

function matchesHost(entry: NetEntry, host: string): boolean {
  if (entry.scheme === "listen") return host === entry.host || host === "::1";
  if (!entry.wildcard) return host === entry.host;
  return !isIpLiteral(host) && host.endsWith(`.${entry.host}`);
}
