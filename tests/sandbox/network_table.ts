/**
 * The table of escapes to the network: what each wall does *alone*. A connection is tried around the gate, which is the
 * matter of walls 2 to 4, and through it, with all that the guest's thread has, which is the gate's.
 * @module
 */
import * as abuses from "./network_abuses.ts";
import type { NetAttempt } from "./network_attempt.ts";
import * as attempts from "./network_attempts.ts";
import type { Verdict } from "./table.ts";

/** One row of the table. */
export interface NetEscape {
  readonly name: string;
  readonly attempt: NetAttempt;
  /** Wall 1, the gate, walls 2 to 4; without a gate's verdict nothing of it goes there. */
  readonly walls: readonly [Verdict, Verdict | undefined, Verdict, Verdict, Verdict];
}

/** What the columns are called. */
export const NET_WALL_NAMES = ["1 imports", "gate", "2 permissions", "3 process", "4 kernel"] as const;

/** What stands when a column is tried alone. */
export const NET_WALLS = ["1", "g", "2", "3", "4"] as const;

const holds = (why: string): Verdict => ({ holds: true, why });
const cannot = (why: string): Verdict => ({ holds: false, why });

const NETWORK = cannot("the same network");
const ONE_PORT = holds("the gate's port, no other");

/** Around the gate and through it. */
export const NET_ESCAPES: readonly NetEscape[] = [
  {
    name: "a host that no entry names",
    attempt: attempts.unlistedHost,
    walls: [holds("compared"), holds("compared"), holds("not in the net list"), NETWORK, ONE_PORT],
  },
  {
    name: "a port that no entry names",
    attempt: attempts.unlistedPort,
    walls: [holds("compared"), holds("compared"), holds("not in the net list"), NETWORK, ONE_PORT],
  },
  {
    name: "another scheme than the entry's",
    attempt: attempts.unlistedScheme,
    walls: [holds("compared"), holds("compared"), cannot("its lists know none"), NETWORK, ONE_PORT],
  },
  {
    name: "a granted name with an address inside",
    attempt: attempts.nameOfInside,
    walls: [
      cannot("it sees names"),
      holds("checks each address that it connects to"),
      cannot("lists names"),
      NETWORK,
      ONE_PORT,
    ],
  },
  {
    name: "questions about names as a channel",
    attempt: attempts.namesAsChannel,
    walls: [
      holds("not asked unless granted"),
      holds("not asked unless granted"),
      holds("not in the net list"),
      NETWORK,
      holds("no datagram, no resolver's file or port"),
    ],
  },
  {
    name: "a redirect to any of these",
    attempt: attempts.redirect,
    walls: [holds("each hop compared"), holds("each is a new request"), holds("each hop compared"), NETWORK, ONE_PORT],
  },
  {
    name: "a `Host` that lies",
    attempt: abuses.lyingHost,
    walls: [holds("made by the host"), holds("refused"), cannot("it reads nothing"), NETWORK, ONE_PORT],
  },
  {
    name: "a request in a request: CR, LF, NUL, lengths",
    attempt: abuses.smuggled,
    walls: [holds("refused in each part"), holds("one, framed anew"), cannot("it reads nothing"), NETWORK, ONE_PORT],
  },
  {
    name: "the operator's proxy variables",
    attempt: abuses.proxyVariables,
    walls: [holds("not read"), holds("not read"), cannot("not asked"), holds("cleared"), ONE_PORT],
  },
  {
    name: "another run's gate, or its credential",
    attempt: abuses.otherCredential,
    walls: [holds("not an entry"), holds("its own credential alone"), holds("not in the net list"), NETWORK, ONE_PORT],
  },
  {
    name: "unix sockets, with and without a file",
    attempt: abuses.unixSockets,
    walls: [
      holds("no such import"),
      undefined,
      cannot("a folder to write in is one to connect in"),
      NETWORK,
      holds("seccomp: none"),
    ],
  },
  {
    name: "datagrams",
    attempt: abuses.datagrams,
    walls: [holds("needs a `udp` entry"), undefined, holds("not in the net list"), NETWORK, holds("seccomp: none")],
  },
  {
    name: "datagrams of QUIC to a granted port",
    attempt: abuses.quic,
    walls: [
      holds("no such import"),
      undefined,
      cannot("an internal operation asks for host and port alone"),
      NETWORK,
      holds("seccomp: none"),
    ],
  },
  {
    name: "a port to listen on",
    attempt: abuses.listening,
    walls: [holds("needs a `listen` entry"), undefined, holds("not in the net list"), NETWORK, holds("seccomp: none")],
  },
];
