import { HOSTED } from "../hosted.ts";
import { IoError } from "../io_error.ts";
import type { GateWay } from "../net/gate_way.ts";
import type { NetCheck } from "../net/net_check.ts";
import type { NetworkAccess } from "../net/network_access.ts";
import type { OpenEnds } from "../net/open_ends.ts";
import type { Family } from "./address.ts";
import { IncomingDatagramStream, OutgoingDatagramStream } from "./datagram_streams.ts";
import { ResolveAddressStream } from "./names.ts";
import { Network, requireNetwork } from "./network.ts";
import type { NetworkError } from "./network_error.ts";
import { SocketHost } from "./socket_host.ts";
import { TcpSocket } from "./tcp_socket.ts";
import { UdpSocket } from "./udp_socket.ts";

/** What sockets are made with. */
export interface SocketsOptions {
  readonly access: NetworkAccess;
  readonly way: GateWay;
  readonly check: NetCheck;
  readonly ends: OpenEnds;
}

/** `wasi:sockets/*` of one run. */
export class Sockets {
  readonly #host: SocketHost;

  constructor({ access, way, check, ends }: SocketsOptions) {
    this.#host = new SocketHost(access, way, check, ends);
  }

  /** Host objects by interface. */
  imports(): Record<string, Record<string, unknown>> {
    const host = this.#host;
    return {
      "wasi:sockets/network": {
        Network,
        networkErrorCode: (error: IoError) => error instanceof IoError ? error.networkCode : undefined,
      },
      "wasi:sockets/instance-network": { instanceNetwork: () => new Network(HOSTED) },
      "wasi:sockets/ip-name-lookup": {
        ResolveAddressStream,
        resolveAddresses(network: Network, name: string): ResolveAddressStream {
          requireNetwork(network);
          return host.names.lookUp(name);
        },
      },
      "wasi:sockets/tcp": { TcpSocket },
      "wasi:sockets/tcp-create-socket": {
        createTcpSocket: (family: Family) => host.makeTcp(requireFamily(family)),
      },
      "wasi:sockets/udp": { UdpSocket, IncomingDatagramStream, OutgoingDatagramStream },
      "wasi:sockets/udp-create-socket": {
        createUdpSocket(family: Family): UdpSocket {
          requireFamily(family);
          host.made();
          return new UdpSocket(HOSTED, host, family);
        },
      },
    };
  }

  /** See {@link SocketHost.settle}. */
  settle(): Promise<void> {
    return this.#host.settle();
  }
}

/** @throws NetworkError `not-supported` */
function requireFamily(family: Family): Family {
  if (family !== "ipv4" && family !== "ipv6") throw "not-supported" satisfies NetworkError;
  return family;
}
