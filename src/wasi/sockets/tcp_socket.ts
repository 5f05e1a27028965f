import { LISTEN_HOST } from "../../grants/mod.ts";
import { HOSTED, requireHosted } from "../hosted.ts";
import type { InputStream } from "../input_stream.ts";
import { failureOfWire } from "../net/gate_error.ts";
import type { OpenWire, Place } from "../net/gate_way.ts";
import { Watched } from "../net/watched.ts";
import { closeQuietly, WireReader } from "../net/wire.ts";
import type { OutputStream } from "../output_stream.ts";
import { Pollable } from "../pollable.ts";
import {
  type Family,
  isLoopback,
  isUnicast,
  isUnspecified,
  placeOf,
  type SocketAddress,
  socketAddressOf,
} from "./address.ts";
import { type Network, requireNetwork } from "./network.ts";
import type { NetworkError } from "./network_error.ts";
import { positive, positiveNumber, SocketOptions } from "./socket_options.ts";
import type { SocketHost } from "./socket_host.ts";
import { TcpConnection } from "./tcp_connection.ts";

/** `shutdown-type`. */
export type ShutdownType = "receive" | "send" | "both";

type Streams = [input: InputStream, output: OutputStream];

/** Where a socket is in its life (TcpSocketOperationalSemantics of `wasi:sockets`). */
type State =
  | { readonly kind: "unbound" | "closed" }
  | { readonly kind: "binding" | "bound" | "listen_started"; readonly local: Place }
  | { readonly kind: "listening"; readonly local: Place; readonly listener: Deno.TcpListener }
  | { readonly kind: "connecting"; readonly remote: Place; readonly attempt: Attempt }
  | { readonly kind: "connected"; readonly local: Place; readonly remote: Place; readonly connection: TcpConnection };

/** A connection that is being made. */
interface Attempt {
  readonly abort: AbortController;
  open?: OpenWire;
  error?: NetworkError;
}

const ANY: Readonly<Record<Family, string>> = { ipv4: "0.0.0.0", ipv6: "::" };
const LOOPBACK: Readonly<Record<Family, string>> = { ipv4: LISTEN_HOST, ipv6: "::1" };

/** `tcp-socket`: connects through the gate, listens on loopback ports that a `listen` entry names. */
export class TcpSocket {
  readonly #host: SocketHost;
  readonly #family: Family;
  readonly #readiness: Watched;
  #options: SocketOptions;
  #state: State = { kind: "unbound" };
  #listenError: NetworkError | undefined;
  #accepted: Deno.TcpConn | undefined;
  #isAccepting = false;
  readonly #release: () => void;

  constructor(key: typeof HOSTED, host: SocketHost, family: Family, options: SocketOptions = new SocketOptions()) {
    requireHosted(key);
    this.#host = host;
    this.#family = family;
    this.#options = options;
    this.#readiness = new Watched(() => this.#isReady(), () => this.#accept());
    this.#release = host.ends.keep(() => this.#shut());
  }

  startBind(network: Network, address: SocketAddress): void {
    requireNetwork(network);
    if (this.#state.kind === "binding") throw "concurrency-conflict" satisfies NetworkError;
    if (this.#state.kind !== "unbound") throw "invalid-state" satisfies NetworkError;
    const { host, port } = placeOf(address, this.#family);
    if (!isUnicast(host)) throw "invalid-argument" satisfies NetworkError;
    if (!isUnspecified(host) && !isLoopback(host)) throw "address-not-bindable" satisfies NetworkError;
    if (port !== 0) this.#host.requireAllowed({ scheme: "listen", host: LISTEN_HOST, port });
    this.#state = { kind: "binding", local: { host, port } };
  }

  finishBind(): void {
    if (this.#state.kind !== "binding") throw "not-in-progress" satisfies NetworkError;
    this.#state = { kind: "bound", local: this.#state.local };
  }

  startConnect(network: Network, address: SocketAddress): void {
    requireNetwork(network);
    const { kind } = this.#state;
    if (kind === "connecting" || kind === "binding") throw "concurrency-conflict" satisfies NetworkError;
    if (kind !== "unbound" && kind !== "bound") throw "invalid-state" satisfies NetworkError;
    const remote = placeOf(address, this.#family);
    if (!isUnicast(remote.host) || isUnspecified(remote.host) || remote.port === 0) {
      throw "invalid-argument" satisfies NetworkError;
    }
    this.#host.requireConnectable(remote);
    const attempt: Attempt = { abort: new AbortController() };
    this.#state = { kind: "connecting", remote, attempt };
    this.#host.way.openTunnel("tcp", remote, attempt.abort.signal).then(
      (open) => {
        attempt.open = open;
        if (attempt.abort.signal.aborted) closeQuietly(open.wire);
      },
      (error) => attempt.error = failureOfWire(error).network,
    ).then(() => this.#readiness.wake());
  }

  finishConnect(): Streams {
    const state = this.#state;
    if (state.kind !== "connecting") throw "not-in-progress" satisfies NetworkError;
    const { open, error } = state.attempt;
    if (error !== undefined) {
      this.#state = { kind: "closed" };
      throw error;
    }
    if (open === undefined) throw "would-block" satisfies NetworkError;
    return this.#connected(open, { host: ANY[this.#family], port: 0 }, state.remote);
  }

  startListen(): void {
    const state = this.#state;
    if (state.kind === "listen_started") throw "concurrency-conflict" satisfies NetworkError;
    if (state.kind !== "bound") throw "invalid-state" satisfies NetworkError;
    // A port of the system's choice is none that an entry names.
    if (state.local.port === 0) throw "access-denied" satisfies NetworkError;
    this.#state = { kind: "listen_started", local: state.local };
  }

  finishListen(): void {
    const state = this.#state;
    if (state.kind !== "listen_started") throw "not-in-progress" satisfies NetworkError;
    const local = { host: LOOPBACK[this.#family], port: state.local.port };
    try {
      const listener = Deno.listen({ hostname: local.host, port: local.port });
      this.#state = { kind: "listening", local, listener };
    } catch (error) {
      this.#state = { kind: "bound", local: state.local };
      if (error instanceof Deno.errors.AddrInUse) throw "address-in-use" satisfies NetworkError;
      if (error instanceof Deno.errors.AddrNotAvailable) throw "address-not-bindable" satisfies NetworkError;
      throw "access-denied" satisfies NetworkError;
    }
  }

  accept(): [socket: TcpSocket, ...Streams] {
    if (this.#state.kind !== "listening") throw "invalid-state" satisfies NetworkError;
    const error = this.#listenError;
    this.#listenError = undefined;
    if (error !== undefined) throw error;
    const wire = this.#accepted;
    if (wire === undefined) {
      this.#accept();
      throw "would-block" satisfies NetworkError;
    }
    this.#accepted = undefined;
    const socket = this.#host.makeTcp(this.#family, this.#options.copy());
    const { hostname, port } = wire.remoteAddr;
    const remote = { host: hostname, port };
    return [socket, ...socket.#connected({ wire, reader: new WireReader(wire) }, this.#state.local, remote)];
  }

  localAddress(): SocketAddress {
    const state = this.#state;
    if (!("local" in state) || state.kind === "binding") throw "invalid-state" satisfies NetworkError;
    return socketAddressOf(state.local);
  }

  remoteAddress(): SocketAddress {
    if (this.#state.kind !== "connected") throw "invalid-state" satisfies NetworkError;
    return socketAddressOf(this.#state.remote);
  }

  isListening(): boolean {
    return this.#state.kind === "listening";
  }

  addressFamily(): Family {
    return this.#family;
  }

  setListenBacklogSize(value: bigint): void {
    positive(value);
    const { kind } = this.#state;
    if (kind === "connecting" || kind === "connected") throw "invalid-state" satisfies NetworkError;
    if (kind === "listening") throw "not-supported" satisfies NetworkError;
  }

  keepAliveEnabled(): boolean {
    return this.#options.keepAlive;
  }

  setKeepAliveEnabled(value: boolean): void {
    this.#options.keepAlive = value === true;
  }

  keepAliveIdleTime(): bigint {
    return this.#options.idleTime;
  }

  setKeepAliveIdleTime(value: bigint): void {
    this.#options.idleTime = positive(value);
  }

  keepAliveInterval(): bigint {
    return this.#options.interval;
  }

  setKeepAliveInterval(value: bigint): void {
    this.#options.interval = positive(value);
  }

  keepAliveCount(): number {
    return this.#options.count;
  }

  setKeepAliveCount(value: number): void {
    this.#options.count = positiveNumber(value);
  }

  hopLimit(): number {
    return this.#options.hopLimit;
  }

  setHopLimit(value: number): void {
    this.#options.hopLimit = positiveNumber(value);
  }

  receiveBufferSize(): bigint {
    return this.#options.receiveBuffer;
  }

  setReceiveBufferSize(value: bigint): void {
    this.#options.receiveBuffer = positive(value);
  }

  sendBufferSize(): bigint {
    return this.#options.sendBuffer;
  }

  setSendBufferSize(value: bigint): void {
    this.#options.sendBuffer = positive(value);
  }

  subscribe(): Pollable {
    return new Pollable(HOSTED, this.#readiness);
  }

  shutdown(type: ShutdownType): void {
    if (this.#state.kind !== "connected") throw "invalid-state" satisfies NetworkError;
    if (type !== "send") this.#state.connection.shutReceive();
    if (type !== "receive") this.#state.connection.shutSend();
  }

  [Symbol.dispose](): void {
    this.#release();
    this.#shut();
    this.#host.dropped();
  }

  /** Closes what it has open: a connection once what is queued has gone out. */
  #shut(): void {
    const state = this.#state;
    this.#state = { kind: "closed" };
    if (state.kind === "connecting") {
      state.attempt.abort.abort();
      if (state.attempt.open !== undefined) closeQuietly(state.attempt.open.wire);
    }
    if (state.kind === "listening") state.listener.close();
    if (state.kind === "connected") this.#host.letGo(state.connection);
    this.#accepted?.close();
    this.#accepted = undefined;
  }

  #connected(open: OpenWire, local: Place, remote: Place): Streams {
    const connection = new TcpConnection(open);
    this.#host.adopt(connection);
    this.#state = { kind: "connected", local, remote, connection };
    return [connection.input, connection.output];
  }

  #isReady(): boolean {
    const state = this.#state;
    if (state.kind === "connecting") return state.attempt.open !== undefined || state.attempt.error !== undefined;
    return state.kind !== "listening" || this.#accepted !== undefined || this.#listenError !== undefined;
  }

  /** Takes the next connection in, if the guest has none waiting. */
  #accept(): void {
    const state = this.#state;
    if (state.kind !== "listening" || this.#isAccepting || this.#accepted !== undefined) return;
    this.#isAccepting = true;
    state.listener.accept().then((wire) => {
      if (this.#state.kind === "listening") this.#accepted = wire;
      else wire.close();
    }, () => this.#listenError = "connection-aborted").finally(() => {
      this.#isAccepting = false;
      this.#readiness.wake();
    });
  }
}
