import { type NetFixture, readAll } from "../net/net_fixture.ts";
import type { InputStream } from "../input_stream.ts";
import type { OutputStream } from "../output_stream.ts";
import type { Pollable } from "../pollable.ts";
import type { SocketAddress } from "./address.ts";
import type { ResolveAddressStream } from "./names.ts";
import type { Network } from "./network.ts";
import type { TcpSocket } from "./tcp_socket.ts";
import type { UdpSocket } from "./udp_socket.ts";

export { readAll };

type Functions = Record<string, (...args: unknown[]) => unknown>;

function call<T>({ wasi }: NetFixture, name: string, ...args: unknown[]): T {
  const [module = "", member = ""] = name.split("#");
  return (wasi.imports[`wasi:sockets/${module}`] as Functions)[member]!(...args) as T;
}

export function network(fixture: NetFixture): Network {
  return call(fixture, "instance-network#instanceNetwork");
}

export function tcp(fixture: NetFixture, family = "ipv4"): TcpSocket {
  return call(fixture, "tcp-create-socket#createTcpSocket", family);
}

export function udp(fixture: NetFixture, family = "ipv4"): UdpSocket {
  return call(fixture, "udp-create-socket#createUdpSocket", family);
}

export function lookUp(fixture: NetFixture, name: string): ResolveAddressStream {
  return call(fixture, "ip-name-lookup#resolveAddresses", network(fixture), name);
}

/** An IPv4 address and port. */
export function at(text: string, port: number): SocketAddress {
  return { tag: "ipv4", val: { port, address: text.split(".").map(Number) } };
}

/** Calls until it is not would-block any more, waiting in between. */
export async function finish<T>(subject: { subscribe(): Pollable }, act: () => T): Promise<T> {
  for (;;) {
    try {
      return act();
    } catch (error) {
      if (error !== "would-block") throw error;
      await subject.subscribe().block();
    }
  }
}

/** A connected socket and its streams. */
export async function connect(
  fixture: NetFixture,
  address: SocketAddress,
): Promise<{ socket: TcpSocket; input: InputStream; output: OutputStream }> {
  const socket = tcp(fixture);
  socket.startConnect(network(fixture), address);
  const [input, output] = await finish(socket, () => socket.finishConnect());
  return { socket, input, output };
}
