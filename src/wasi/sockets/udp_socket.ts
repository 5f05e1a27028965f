import type { Socket as DatagramSocket } from "node:dgram";
import { HOSTED, requireHosted } from "../hosted.ts";
import type { Place } from "../net/gate_way.ts";
import { Watched } from "../net/watched.ts";
import { Pollable } from "../pollable.ts";
import { type Family, isUnicast, isUnspecified, placeOf, type SocketAddress, socketAddressOf } from "./address.ts";
import { IncomingDatagramStream, OutgoingDatagramStream } from "./datagram_streams.ts";
import { DatagramQueue } from "./datagram_queue.ts";
import { type Network, requireNetwork } from "./network.ts";
import type { NetworkError } from "./network_error.ts";
import { positive, positiveNumber, SocketOptions } from "./socket_options.ts";
import type { SocketHost } from "./socket_host.ts";

type State =
  | { readonly kind: "unbound" | "closed" }
  | { readonly kind: "binding"; readonly local: Place; socket?: DatagramSocket; error?: NetworkError }
  | { readonly kind: "bound"; readonly socket: DatagramSocket };

/** `udp-socket`: a client's. Every datagram is compared with the entries, out and in; no wall stands behind that. */
export class UdpSocket {
  readonly #host: SocketHost;
  readonly #family: Family;
  readonly #options = new SocketOptions();
  readonly #readiness: Watched;
  #state: State = { kind: "unbound" };
  #queue: DatagramQueue | undefined;
  readonly #release: () => void;

  constructor(key: typeof HOSTED, host: SocketHost, family: Family) {
    requireHosted(key);
    this.#host = host;
    this.#family = family;
    this.#readiness = new Watched(() => {
      const state = this.#state;
      return state.kind !== "binding" || state.socket !== undefined || state.error !== undefined;
    });
    this.#release = host.ends.keep(() => this.#shut());
  }

  startBind(network: Network, address: SocketAddress): void {
    requireNetwork(network);
    if (this.#state.kind === "binding") throw "concurrency-conflict" satisfies NetworkError;
    if (this.#state.kind !== "unbound") throw "invalid-state" satisfies NetworkError;
    const local = placeOf(address, this.#family);
    if (!isUnspecified(local.host)) throw "address-not-bindable" satisfies NetworkError;
    // A port of its own choice would be a server's.
    if (local.port !== 0) throw "access-denied" satisfies NetworkError;
    const state: State = { kind: "binding", local };
    this.#state = state;
    openDatagrams(this.#family, local).then((socket) => {
      if (this.#state === state) state.socket = socket;
      else socket.close();
    }, () => state.error = "access-denied").then(() => this.#readiness.wake());
  }

  /** Waits for the end of the bind and never would block: a libc counts on that for a socket that does not block. */
  async finishBind(): Promise<void> {
    if (this.#state.kind !== "binding") throw "not-in-progress" satisfies NetworkError;
    await this.#readiness.until();
    const state = this.#state;
    if (state.kind !== "binding") throw "not-in-progress" satisfies NetworkError;
    if (state.error !== undefined) {
      this.#state = { kind: "unbound" };
      throw state.error;
    }
    if (state.socket === undefined) throw "unknown" satisfies NetworkError;
    this.#state = { kind: "bound", socket: state.socket };
  }

  stream(address: SocketAddress | undefined): [IncomingDatagramStream, OutgoingDatagramStream] {
    if (this.#state.kind !== "bound") throw "invalid-state" satisfies NetworkError;
    const remote = address === undefined ? undefined : placeOf(address, this.#family);
    if (remote !== undefined) {
      if (!isUnicast(remote.host) || isUnspecified(remote.host) || remote.port === 0) {
        throw "invalid-argument" satisfies NetworkError;
      }
      this.#host.requirePeer(remote);
    }
    this.#queue?.close();
    const queue = new DatagramQueue(this.#host, this.#state.socket, this.#family, remote);
    this.#queue = queue;
    return [new IncomingDatagramStream(HOSTED, queue), new OutgoingDatagramStream(HOSTED, queue)];
  }

  localAddress(): SocketAddress {
    if (this.#state.kind !== "bound") throw "invalid-state" satisfies NetworkError;
    const { address, port } = this.#state.socket.address();
    return socketAddressOf({ host: address, port });
  }

  remoteAddress(): SocketAddress {
    const remote = this.#queue?.remote;
    if (remote === undefined) throw "invalid-state" satisfies NetworkError;
    return socketAddressOf(remote);
  }

  addressFamily(): Family {
    return this.#family;
  }

  unicastHopLimit(): number {
    return this.#options.hopLimit;
  }

  setUnicastHopLimit(value: number): void {
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

  [Symbol.dispose](): void {
    this.#release();
    this.#shut();
    this.#host.dropped();
  }

  #shut(): void {
    const state = this.#state;
    this.#state = { kind: "closed" };
    this.#queue?.close();
    if (state.kind === "bound") state.socket.close();
    if (state.kind === "binding") state.socket?.close();
  }
}

// Deno's own datagrams are unstable, those of `node:dgram` are not; most runs need neither, so they are loaded here.
async function openDatagrams(family: Family, { host, port }: Place): Promise<DatagramSocket> {
  // What the runtime refuses to bind it throws at nobody, which would end the thread.
  const place = family === "ipv4" ? "0.0.0.0:0" : "[::]:0";
  if (Deno.permissions.querySync({ name: "net", host: place }).state !== "granted") throw new Deno.errors.NotCapable();
  const { createSocket } = await import("node:dgram");
  const socket = createSocket({ type: family === "ipv4" ? "udp4" : "udp6", ipv6Only: family === "ipv6" });
  return await new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.bind({ address: host, port }, () => {
      socket.removeListener("error", reject);
      socket.on("error", () => {});
      resolve(socket);
    });
  });
}
