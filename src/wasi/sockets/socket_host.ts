import { matchesNet, type NetTarget } from "../../grants/mod.ts";
import { HOSTED } from "../hosted.ts";
import { formatPlace, type GateWay, type Place } from "../net/gate_way.ts";
import type { NetCheck } from "../net/net_check.ts";
import type { NetworkAccess } from "../net/network_access.ts";
import type { OpenEnds } from "../net/open_ends.ts";
import type { Family } from "./address.ts";
import { Names } from "./names.ts";
import type { NetworkError } from "./network_error.ts";
import type { SocketOptions } from "./socket_options.ts";
import type { TcpConnection } from "./tcp_connection.ts";
import { TcpSocket } from "./tcp_socket.ts";

/** Most sockets of a run at once. */
const MAX_SOCKETS = 128;
/** How long the end of a run waits for what its connections still have to say, ms. */
const LINGER_MS = 2000;

/** What all sockets of one run share. */
export class SocketHost {
  readonly way: GateWay;
  readonly names: Names;
  /** What is open; each thing that opens something keeps its end here. */
  readonly ends: OpenEnds;
  readonly #access: NetworkAccess;
  readonly #check: NetCheck;
  /** Each with what lets go of its end. */
  readonly #live = new Map<TcpConnection, () => void>();
  readonly #closing = new Set<Promise<void>>();
  #sockets = 0;

  constructor(access: NetworkAccess, way: GateWay, check: NetCheck, ends: OpenEnds) {
    this.#access = access;
    this.way = way;
    this.ends = ends;
    this.#check = check;
    this.names = new Names(access, check);
  }

  /** @throws NetworkError `new-socket-limit` */
  makeTcp(family: Family, options?: SocketOptions): TcpSocket {
    this.made();
    return new TcpSocket(HOSTED, this, family, options);
  }

  /** Counts one more socket. @throws NetworkError `new-socket-limit` */
  made(): void {
    if (this.#sockets >= MAX_SOCKETS) throw "new-socket-limit" satisfies NetworkError;
    this.#sockets++;
  }

  /** Counts one less. */
  dropped(): void {
    this.#sockets--;
  }

  /** @throws NetworkError `access-denied`, told */
  requireAllowed(target: NetTarget): void {
    if (this.#check.allows(target)) return;
    this.#check.deny(target);
    throw "access-denied" satisfies NetworkError;
  }

  /** An address is allowed by an entry for itself, or for a name that it was given out for. @throws NetworkError */
  requireConnectable({ host, port }: Place): void {
    const names = this.names.namesOf(host);
    if ([host, ...names].some((host) => this.#check.allows({ scheme: "tcp", host, port }))) return;
    this.requireAllowed({ scheme: "tcp", host: names[0] ?? host, port });
  }

  /** The same for a datagram, which no gate checks behind this. */
  isPeer(place: Place): boolean {
    return this.#access.udpPeers.includes(formatPlace(place)) ||
      matchesNet(this.#check.entries, { scheme: "udp", ...place }) !== undefined;
  }

  /** @throws NetworkError `access-denied`, told */
  requirePeer(place: Place): void {
    if (this.isPeer(place)) return;
    this.requireAllowed({ scheme: "udp", host: this.names.namesOf(place.host)[0] ?? place.host, port: place.port });
  }

  /** Keeps a connection until it is let go. */
  adopt(connection: TcpConnection): void {
    this.#live.set(connection, this.ends.keep(() => connection.destroy()));
  }

  /** Closes a connection once what is queued has gone out. */
  letGo(connection: TcpConnection): void {
    const release = this.#live.get(connection);
    if (release === undefined) return;
    this.#live.delete(connection);
    const closing = connection.close().finally(() => {
      release();
      this.#closing.delete(closing);
    });
    this.#closing.add(closing);
  }

  /**
   * The guest is gone: what it wrote still goes out, as it would from a kernel's buffer, for a while.
   */
  async settle(): Promise<void> {
    const ends = [...this.#live.keys()].map((connection) => connection.linger());
    const all = Promise.all([...ends, ...this.#closing]);
    if (ends.length + this.#closing.size === 0) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((done) => timer = setTimeout(done, LINGER_MS));
    await Promise.race([all, late]);
    clearTimeout(timer);
  }
}
