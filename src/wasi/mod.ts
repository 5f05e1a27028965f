/**
 * The WASI 0.2 host: in come a run's resolved arguments, variables, preopens, byte ports and limits; out come the
 * host objects that a transpiled component imports. Runs in the guest's thread. It checks every operation itself, may
 * throw only WIT error values at a guest, touches no file outside the preopens, and reaches the network through the gate
 * alone (datagrams apart, which are checked one by one). It knows no manifest and no frame. The network is behind a side
 * door, `network.ts`, which only a guest with a network, or one that serves, opens.
 * @module
 */
export { GuestExit, LimitReached } from "./endings.ts";
export { createWasi } from "./host.ts";
export type { Denial, HostLimits, Preopen, SymlinkPlace, WasiHost, WasiOptions } from "./host.ts";
export { SinkClosed } from "./ports.ts";
export type { NetworkAccess, Resolution } from "./net/network_access.ts";
export type { NetworkLink } from "./network.ts";
export type { ByteSink, ByteSource, SourceChunk } from "./ports.ts";
export { answerReadAhead, type ReadAhead, sharedReadAhead, shareReadAhead } from "./files/read_ahead.ts";
export { closedSink, closedSource, inheritedSink, inheritedStdin } from "./stdio.ts";
export { symlinkInside } from "./files/symlink_inside.ts";
