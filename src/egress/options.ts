import type { NetEntry } from "../grants/mod.ts";
import type { Wire } from "../http1/mod.ts";
import type { GateError } from "./refusal.ts";

/** All addresses of a name, in the order to try them; rejects when there is none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** A connection to an IP address; rejects with one of `Deno.errors`, or when the signal is aborted. */
export type Connect = (address: string, port: number, signal: AbortSignal) => Promise<Wire>;

/** The bounds of a gate. Every one is reached by what a cell does, never by what it may. */
export interface GateLimits {
  /** Connections at once; the next one is answered 503. */
  readonly connections: number;
  /** From a whole request head to an open connection: look-up and every address together, ms. */
  readonly connectTimeoutMs: number;
  /** Without a byte in either direction, ms. */
  readonly idleTimeoutMs: number;
  /** From accepting a connection to the end of its head, ms. */
  readonly headTimeoutMs: number;
  /** The longest head of a request or response, bytes; at most 65 536. */
  readonly headBytes: number;
  /** Bytes of all bodies and tunnels, both directions together; absent is no bound. */
  readonly bytes?: number;
}

/** The bounds when nothing else is said. */
export const DEFAULT_GATE_LIMITS: GateLimits = {
  connections: 128,
  connectTimeoutMs: 15_000,
  idleTimeoutMs: 300_000,
  headTimeoutMs: 10_000,
  headBytes: 65_536,
};

/**
 * The operator's own proxy, plain HTTP with CONNECT, for all but loopback (which would be the proxy's own). Its address
 * is the operator's word and is not checked. It gets names, and looks them up itself; see `upstream.ts` for what that
 * leaves open.
 */
export interface Upstream {
  readonly host: string;
  readonly port: number;
  /** `user:password` for basic authentication. */
  readonly credential?: string;
}

/** What a gate is opened with. */
export interface GateOptions {
  readonly entries: readonly NetEntry[];
  /** Default: `getaddrinfo`, with `/etc/hosts`. */
  readonly resolve?: Resolve;
  /** Default: `Deno.connect`. */
  readonly connect?: Connect;
  readonly upstream?: Upstream;
  readonly limits?: Partial<GateLimits>;
  /** Called once for each destination that an entry allows, when its connection has ended. */
  onConnection(connection: GateConnection): void;
  /** Called for each thing that no entry allows. */
  onDenied(denial: GateDenial): void;
  /** Milliseconds that only grow; for durations alone. */
  readonly now?: () => number;
}

/** How one connection through the gate went. Hosts and addresses are normalised, so safe to print. */
export interface GateConnection {
  readonly scheme: "https" | "http" | "tcp";
  readonly host: string;
  readonly port: number;
  /** The address connected to; absent when there was none, or an upstream proxy chose it. */
  readonly address?: string;
  /** The text of the entry that allowed it. */
  readonly entry: string;
  /** `refused`: no address that the name has may be reached. `failed`: no answer, or none that is one. */
  readonly outcome: "opened" | "refused" | "failed";
  /** Why it was not opened, or what ended it before its time. */
  readonly error?: GateError;
  readonly bytes_up: number;
  readonly bytes_down: number;
  readonly duration_ms: number;
}

/** What was asked of the gate and not granted. */
export interface GateDenial {
  readonly grant: "net";
  /** One line, safe to print. */
  readonly asked: string;
  /** The entry that would allow it; absent when none could. */
  readonly allow?: string;
}

/** What {@link Gate.resolveName} says: addresses that may be connected to, or why there are none. */
export type ResolvedName =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly error: GateError };
