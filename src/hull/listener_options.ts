import type { Libc } from "./libc.ts";

const SOL_SOCKET = 1;
const SO_ACCEPTCONN = 30;
const IPPROTO_TCP = 6;
const TCP_NODELAY = 1;
const TCP_USER_TIMEOUT = 18;
const AF_INET = 2;
const AF_INET6 = 10;
/** Descriptors that are looked at: as many as a process has where nobody says otherwise. */
const MAX_DESCRIPTOR = 1024;

/**
 * Sets TCP_NODELAY on the sockets of this process that listen on `port`, and gives how many there are. Without it a
 * response whose head and body are written apart waits 40 ms for the client's acknowledgement.
 */
export function setNoDelay(libc: Libc, port: number): number {
  return setOnListeners(libc, port, TCP_NODELAY, 1);
}

/**
 * The same with TCP_USER_TIMEOUT: a connection whose client takes no byte of what waits for it is reset after that time,
 * ms, also when the client's system answers. The runtime cannot close one within a write.
 */
export function setUserTimeout(libc: Libc, port: number, ms: number): number {
  return setOnListeners(libc, port, TCP_USER_TIMEOUT, ms);
}

/** Linux hands an option of a listener on to each connection that is accepted there. */
function setOnListeners(libc: Libc, port: number, option: number, setting: number): number {
  let found = 0;
  const [value, length, bytes] = [
    new Uint8Array(4),
    new Uint8Array(4),
    new Uint8Array(new Int32Array([setting]).buffer),
  ];
  for (let descriptor = 3; descriptor < MAX_DESCRIPTOR; descriptor++) {
    length[0] = 4;
    const isSocket = libc.call("getsockopt", descriptor, SOL_SOCKET, SO_ACCEPTCONN, value, length) === 0;
    if (!isSocket || value[0] !== 1 || portOf(libc, descriptor) !== port) continue;
    if (libc.call("setsockopt", descriptor, IPPROTO_TCP, option, bytes, 4) === 0) found++;
  }
  return found;
}

/** The port that a TCP socket is bound to; undefined for any other socket. */
function portOf(libc: Libc, descriptor: number): number | undefined {
  const [address, length] = [new Uint8Array(128), new Uint8Array(4)];
  length[0] = address.length;
  if (libc.call("getsockname", descriptor, address, length) !== 0) return undefined;
  const family = address[0]! + 256 * address[1]!;
  return family === AF_INET || family === AF_INET6 ? 256 * address[2]! + address[3]! : undefined;
}
