import { closeQuietly, type Wire, WireReader } from "../http1/mod.ts";
import { isIpLiteral, matchesNet, type NetEntry, type NetTarget, normalizeHost } from "../grants/mod.ts";
import { isSameAddress, parseAddress } from "./address.ts";
import { classifyAddress } from "./address_class.ts";
import { Deadline } from "./deadline.ts";
import type { Names } from "./names.ts";
import type { Connect, Upstream } from "./options.ts";
import { type GateError, Refusal } from "./refusal.ts";
import { type Authority, formatAuthority } from "./request.ts";
import { connectThrough } from "./upstream.ts";

/** A place that an entry allows. */
export interface Destination extends Authority {
  readonly scheme: "https" | "http" | "tcp";
  readonly entry: NetEntry;
  /** The address that the guest named instead of `host`, which it had been told for it. */
  readonly address?: string;
}

/** An open connection to a destination, and what has come from it. */
export interface Dialed {
  readonly wire: Wire;
  readonly reader: WireReader;
  readonly address?: string;
}

/** What a dialer works with. */
export interface DialerOptions {
  readonly entries: readonly NetEntry[];
  readonly names: Names;
  readonly connect: Connect;
  readonly upstream: Upstream | undefined;
  readonly timeoutMs: number;
}

const DEFAULT_PORTS = { https: 443, http: 80, tcp: undefined } as const;

/** `Deno.connect` to an address that is none is an error of ours: nothing may be looked up again here. */
export const connectBySystem: Connect = async (address, port, signal) => {
  if (parseAddress(address) === undefined) throw new TypeError("Connect: found a name, wanted an IP address");
  const connection = await Deno.connect({ hostname: address, port, signal });
  connection.setNoDelay(true);
  return connection;
};

/** Destinations: matched with the entries, resolved once, checked, connected. */
export class Dialer {
  readonly #options: DialerOptions;

  constructor(options: DialerOptions) {
    this.#options = options;
  }

  /**
   * The destination that is asked for. Without a scheme it is `https` where an entry says so, else `tcp`.
   *
   * @throws {Refusal} `denied` when no entry allows it.
   */
  match(scheme: Destination["scheme"] | undefined, { host, port }: Authority): Destination {
    const schemes = scheme === undefined ? ["https", "tcp"] as const : [scheme];
    for (const scheme of schemes) {
      const entry = matchesNet(this.#options.entries, { scheme, host, port });
      if (entry !== undefined) return { scheme, host, port, entry };
      for (const name of isIpLiteral(host) ? this.#options.names.namesOf(host) : []) {
        const entry = matchesNet(this.#options.entries, { scheme, host: name, port });
        if (entry !== undefined) return { scheme, host: name, port, entry, address: host };
      }
    }
    throw denied({ scheme: schemes[0], host, port });
  }

  /**
   * A connection to one of the destination's addresses, each checked before; the first that answers, in order. The
   * signal gives up.
   *
   * @throws {Refusal} why there is none.
   */
  async open(destination: Destination, signal?: AbortSignal): Promise<Dialed> {
    const deadline = new Deadline(this.#options.timeoutMs, signal);
    try {
      const { upstream } = this.#options;
      if (upstream !== undefined && !isLoopback(destination)) {
        return await this.#openThrough(upstream, destination, deadline);
      }
      const found = await this.#addressesOf(destination, deadline.signal);
      const addresses = this.permitted(found, destination);
      if (addresses.length === 0) throw prohibited(destination, found[0]!);
      return await this.#connectToOne(addresses, destination.port, deadline);
    } finally {
      deadline.clear();
    }
  }

  /** Those of a destination's addresses that may be connected to: public ones, and those that an entry names. */
  permitted(addresses: readonly string[], { scheme, host, port, entry }: NetTarget & { entry: NetEntry }): string[] {
    return addresses.filter((text) => {
      const kind = classifyAddress(parseAddress(text)!);
      if (kind === "public") return true;
      if (entry.literal && host === "localhost") return kind === "loopback";
      return matchesNet(this.#options.entries, { scheme, host: normalizeHost(text) ?? "", port })?.literal === true;
    });
  }

  async #addressesOf({ host, address }: Destination, signal: AbortSignal): Promise<readonly string[]> {
    if (address !== undefined) return [address];
    return isIpLiteral(host) ? [host] : await this.#options.names.lookUp(host, signal);
  }

  async #connectToOne(addresses: readonly string[], port: number, deadline: Deadline): Promise<Dialed> {
    let first: GateError | undefined;
    for (const [index, address] of addresses.entries()) {
      const attempt = deadline.share(addresses.length - index);
      try {
        const wire = await this.#options.connect(address, port, attempt.signal);
        if (isPeer(wire, address, port)) return { wire, reader: new WireReader(wire), address };
        closeQuietly(wire);
        first ??= "destination-unavailable";
      } catch (error) {
        first ??= attempt.signal.aborted ? "connection-timeout" : errorOf(error);
      } finally {
        if (attempt !== deadline) attempt.clear();
      }
      if (deadline.signal.aborted) break;
    }
    throw new Refusal(first!, "Connect: no address of the destination answers");
  }

  /** See `upstream.ts`: a name that has a prohibited address here is refused, one that has none here is passed on. */
  async #openThrough(upstream: Upstream, destination: Destination, deadline: Deadline): Promise<Dialed> {
    const found = await this.#addressesOf(destination, deadline.signal).catch(() => []);
    const wrong = found.find((address) => this.permitted([address], destination).length === 0);
    if (wrong !== undefined) throw prohibited(destination, wrong);
    const places = isIpLiteral(upstream.host)
      ? [upstream.host]
      : await this.#options.names.lookUp(upstream.host, deadline.signal);
    const { wire } = await this.#connectToOne(places, upstream.port, deadline).catch(() => {
      throw new Refusal("upstream-failed", "Connect to the upstream proxy: it does not answer");
    });
    const target = { host: destination.address ?? destination.host, port: destination.port };
    return { wire, reader: await connectThrough(upstream, wire, target, deadline.signal) };
  }
}

/** The refusal of what no entry allows, with the entry that would. */
export function denied({ scheme, host, port }: Pick<Destination, "scheme" | "host" | "port">): Refusal {
  const asked = `${scheme}://${formatAuthority({ host, port })}`;
  const allow = `${scheme}://${formatAuthority({ host, port }, DEFAULT_PORTS[scheme])}`;
  return new Refusal("denied", `Connect: no net entry allows ${asked}`, { asked, allow });
}

function prohibited({ scheme, host, port }: Destination, address: string): Refusal {
  const kind = classifyAddress(parseAddress(address)!);
  const allow = `${scheme}://${formatAuthority({ host: address, port }, DEFAULT_PORTS[scheme])}`;
  const asked = `${scheme}://${formatAuthority({ host, port })} at ${address} (${kind})`;
  return new Refusal("destination-ip-prohibited", `Connect: no net entry names the address of ${asked}`, {
    asked,
    allow,
  });
}

function isLoopback({ host, address }: Destination): boolean {
  if (host === "localhost") return true;
  const parsed = parseAddress(address ?? host);
  return parsed !== undefined && classifyAddress(parsed) === "loopback";
}

function isPeer({ remoteAddr }: Wire, address: string, port: number): boolean {
  return remoteAddr.transport === "tcp" && remoteAddr.port === port && isSameAddress(remoteAddr.hostname, address);
}

function errorOf(error: unknown): GateError {
  if (error instanceof Deno.errors.ConnectionRefused) return "connection-refused";
  if (error instanceof Deno.errors.TimedOut) return "connection-timeout";
  if (error instanceof Deno.errors.ConnectionReset) return "connection-terminated";
  return "destination-unavailable";
}
