/** A host name or address with an optional port, as `Host` and the names of a door say it. */
interface Place {
  readonly host: string;
  readonly port: number | undefined;
}

const AUTHORITY = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]{1,253})(?::([0-9]{1,5}))?$/;
const ADDRESS = /^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/;
const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** Which places a request may say that it was sent to: a page of elsewhere can name its own, and not these. */
export class DoorPlaces {
  readonly #bound: Deno.NetAddr;
  readonly #hosts: ReadonlySet<string>;
  readonly #isWildcard: boolean;
  readonly #names: readonly Place[];

  /** @throws {RangeError} at a name that is none */
  constructor(bound: Deno.NetAddr, names: readonly string[]) {
    this.#bound = bound;
    const host = bracketed(bound.hostname);
    this.#isWildcard = host === "0.0.0.0" || host === "[::]";
    this.#hosts = new Set([host, ...(isLoopback(host) ? LOOPBACK : [])]);
    this.#names = names.map((name) => {
      const place = parsePlace(name);
      if (place === undefined) throw new RangeError(`Name a door: found ${JSON.stringify(name)}, wanted host[:port]`);
      return place;
    });
  }

  /** Whether `Host` names this door. */
  isHost(text: string): boolean {
    const place = parsePlace(text);
    if (place === undefined) return false;
    if (this.#names.some(({ host, port }) => host === place.host && (port === undefined || port === place.port))) {
      return true;
    }
    if ((place.port ?? 80) !== this.#bound.port) return false;
    // An address cannot be made to point elsewhere, so that all of this machine's stand for one that listens on all.
    return this.#hosts.has(place.host) ||
      (this.#isWildcard && (ADDRESS.test(place.host) || place.host === "localhost"));
  }

  /** Whether `Origin` is a page of this door itself; `null` is none. */
  isOrigin(text: string): boolean {
    const [, scheme, rest = ""] = /^(https?):\/\/(.*)$/.exec(text) ?? [];
    if (scheme === undefined) return false;
    return this.isHost(scheme === "https" && !/:\d+$/.test(rest) ? `${rest}:443` : rest);
  }
}

function parsePlace(text: string): Place | undefined {
  const [, host, port] = AUTHORITY.exec(text) ?? [];
  if (host === undefined) return undefined;
  const number = port === undefined ? undefined : Number(port);
  return number !== undefined && number > 65_535 ? undefined : { host: host.toLowerCase(), port: number };
}

function bracketed(hostname: string): string {
  return hostname.includes(":") && !hostname.startsWith("[") ? `[${hostname.toLowerCase()}]` : hostname.toLowerCase();
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127\./.test(host);
}
