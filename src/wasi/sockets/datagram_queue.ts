import type { Socket as DatagramSocket } from "node:dgram";
import { normalizeHost } from "../../grants/mod.ts";
import type { Place } from "../net/gate_way.ts";
import { Watched } from "../net/watched.ts";
import { type Family, placeOf, type SocketAddress, socketAddressOf } from "./address.ts";
import type { NetworkError } from "./network_error.ts";
import type { SocketHost } from "./socket_host.ts";

/** `incoming-datagram`. */
export interface IncomingDatagram {
  readonly data: Uint8Array;
  readonly remoteAddress: SocketAddress;
}

/** `outgoing-datagram`. */
export interface OutgoingDatagram {
  readonly data: Uint8Array;
  readonly remoteAddress?: SocketAddress;
}

const MAX_DATAGRAM_BYTES = 65_507;
const MAX_WAITING = 64;
const MAX_WAITING_BYTES = 1024 * 1024;
const MAX_UNDER_WAY = 16;

/** Datagrams between one socket and its granted peers. What comes while the guest does not read is dropped, as UDP does. */
export class DatagramQueue {
  readonly remote: Place | undefined;
  /** Something was received. */
  readonly received: Watched;
  /** Something may be sent. */
  readonly sendable: Watched;
  readonly #host: SocketHost;
  readonly #socket: DatagramSocket;
  readonly #family: Family;
  readonly #waiting: IncomingDatagram[] = [];
  #waitingBytes = 0;
  #underWay = 0;
  #isClosed = false;

  constructor(host: SocketHost, socket: DatagramSocket, family: Family, remote: Place | undefined) {
    this.#host = host;
    this.#socket = socket;
    this.#family = family;
    this.remote = remote;
    this.received = new Watched(() => this.#waiting.length > 0 || this.#isClosed);
    this.sendable = new Watched(() => this.#underWay < MAX_UNDER_WAY || this.#isClosed);
    socket.on("message", this.#onMessage);
  }

  /** Takes at most `count` datagrams. */
  take(count: number): IncomingDatagram[] {
    const taken = this.#waiting.splice(0, count);
    for (const { data } of taken) this.#waitingBytes -= data.length;
    return taken;
  }

  /** How many may be sent now. */
  get room(): number {
    return this.#isClosed ? 0 : MAX_UNDER_WAY - this.#underWay;
  }

  /** Sends one. @throws NetworkError `access-denied` (told), `invalid-argument`, `datagram-too-large` */
  send({ data, remoteAddress }: OutgoingDatagram): void {
    if (!(data instanceof Uint8Array)) throw new TypeError("Send a datagram: found another type than list<u8>");
    const given = remoteAddress === undefined ? undefined : placeOf(remoteAddress, this.#family);
    const to = given ?? this.remote;
    if (to === undefined || to.port === 0 || (this.remote !== undefined && !isSame(to, this.remote))) {
      throw "invalid-argument" satisfies NetworkError;
    }
    if (data.length > MAX_DATAGRAM_BYTES) throw "datagram-too-large" satisfies NetworkError;
    this.#host.requirePeer(to);
    this.#underWay++;
    this.#socket.send(data.slice(), to.port, to.host, () => {
      this.#underWay--;
      this.sendable.wake();
    });
  }

  /** Detaches it from its socket. */
  close(): void {
    this.#isClosed = true;
    this.#socket.off("message", this.#onMessage);
    this.received.wake();
    this.sendable.wake();
  }

  readonly #onMessage = (data: Uint8Array, { address, port }: { address: string; port: number }): void => {
    const host = normalizeHost(address);
    if (host === undefined) return;
    const from = { host, port };
    if (this.remote === undefined ? !this.#host.isPeer(from) : !isSame(from, this.remote)) return;
    if (this.#waiting.length >= MAX_WAITING || this.#waitingBytes + data.length > MAX_WAITING_BYTES) return;
    this.#waitingBytes += data.length;
    this.#waiting.push({ data: Uint8Array.from(data), remoteAddress: socketAddressOf(from) });
    this.received.wake();
  };
}

function isSame(left: Place, right: Place): boolean {
  return left.host === right.host && left.port === right.port;
}
