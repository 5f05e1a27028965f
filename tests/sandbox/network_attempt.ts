/**
 * What an attempt to reach the network is made of. Every route is given a mark of its own to bring to a place; whether
 * it got out is what that place saw, and no clock's matter. A route's *text* is sent, as with {@link Attempt}.
 * @module
 */
import type { Injected } from "./attempt.ts";
import type { Arrivals } from "./network_world.ts";

/** The places of one run; all on loopback. Ports alone are on 127.0.0.1. */
export interface NetWorld {
  /** Granted as `http://127.0.0.1:PORT`; sends a request for `/to?URL` on to that URL. */
  readonly granted: number;
  /** Granted as `tcp://127.0.0.1:PORT`. */
  readonly tcp: number;
  /** Granted as `https://127.0.0.1:PORT`; speaks no TLS, and need not. */
  readonly tls: number;
  /** A port of no entry. */
  readonly other: number;
  /** Granted as `http://*.granted.test:PORT`; listens on 127.0.0.1 and ::1, which no entry names. */
  readonly inside: number;
  /** Where an operator's variables say that a proxy is. */
  readonly proxy: number;
  /** A datagram socket; another one has the number of `granted`. */
  readonly udp: number;
  /** The gate of another run, whose grant is `http://127.0.0.1:OTHER`. */
  readonly otherGate: { readonly port: number; readonly credential: string };
  /** Unix sockets: beside everything, in the work folder, which is granted to write, and without a file. */
  readonly unix: { readonly outside: string; readonly work: string; readonly abstract: string };
  /** The system's name server; its zone `granted.test` is granted. Absent where the tests may not put one there. */
  readonly nameServer?: string;
}

/** What a guest's route may use: names that the probes bind. */
export interface NetGuest {
  request(
    url: string,
    options?: { method?: string; headers?: readonly (readonly [string, string])[]; body?: string },
  ): {
    readonly status: number;
  };
  /** A request with any parts. */
  send(parts: { readonly authority: string; readonly path?: string; readonly method?: string }): unknown;
  connect(address: unknown): { readonly input: unknown; readonly output: unknown };
  ipv4(address: readonly number[], port: number): unknown;
  lookUp(name: string): string[];
  writeText(output: unknown, text: string): void;
  datagrams(): { readonly outgoing: unknown };
  sendText(outgoing: unknown, text: string, address: unknown): unknown;
  listen(address: unknown): unknown;
}

/** What injected code may use beside all of Deno's globals. */
export interface NetInjected extends Pick<Injected, "libc" | "operations"> {
  /** This run's own gate, and the whole value of `Proxy-Authorization`. */
  readonly gate: { readonly port: number; readonly authorization: string };
  /** Connects to a port of 127.0.0.1, or to a place; writes each text and reads one answer; gives all answers. */
  talk(place: number | Deno.ConnectOptions, ...texts: string[]): Promise<string>;
  /** A tunnel through the own gate, and a text in it. */
  tunnel(scheme: string, authority: string, text: string): Promise<string>;
  /** A request through the own gate, in absolute form. */
  ask(url: string): Promise<string>;
  /** Asks the gate for a name, as `wasi:sockets` does. */
  resolveName(name: string): Promise<unknown>;
}

/** One way to try, as a guest. Each gives true when it sees itself that it got out. */
export type NetGuestRoute = (guest: NetGuest, world: NetWorld, mark: string) => unknown;

/** One way to try, as JavaScript in the guest's thread. */
export type NetInjectedRoute = (tools: NetInjected, world: NetWorld, mark: string) => unknown;

/** An attempt; the twins are always the same: a granted place is reached. */
export interface NetAttempt {
  /** Through `wasi:http`. */
  readonly http?: Readonly<Record<string, NetGuestRoute>>;
  /** Those that would reach a true host where no gate stands, so that they are tried behind it alone. */
  readonly httpBehindGate?: Readonly<Record<string, NetGuestRoute>>;
  /** Through `wasi:sockets`. */
  readonly sockets?: Readonly<Record<string, NetGuestRoute>>;
  /** Code in the guest's thread that goes past the gate: what walls 2 to 4 are for. */
  readonly around: Readonly<Record<string, NetInjectedRoute>>;
  /** The same code, at the gate with all that it has: what the gate is for. */
  readonly through?: Readonly<Record<string, NetInjectedRoute>>;
  /** Ways that the runtime itself leaves to nobody. */
  readonly runtimeRefuses?: Readonly<Record<string, NetInjectedRoute>>;
  /** Whether a mark came to where it must not; default: to any place that is not granted. */
  isOut?(arrivals: Arrivals, mark: string): boolean;
  /** Variables that boll is started with. */
  environment?(world: NetWorld): Record<string, string>;
  /** It needs a name server of the tests' own, for which they must be root. */
  readonly needsNames?: true;
  /** Its bytes are wrong for the host and the gate as such: neither has a check that the variant leaves out. */
  readonly isMalformed?: true;
}
