import { CapsuleError } from "../base/mod.ts";
import {
  ACTION,
  allowIf,
  allowPair,
  answer,
  assemble,
  type Condition,
  DATA,
  type Instruction,
  onAnyOf,
  onCall,
  OPERATION,
  type Pair,
} from "./bpf.ts";
import { errnoName, type Libc } from "./libc.ts";
import {
  type Architecture,
  type CallName,
  CALLS,
  DENIED,
  LAST_JUDGED,
  NONE,
  numberOn,
  type SyscallNumbers,
} from "./syscalls.ts";

/** What a filter depends on. */
export interface FilterOptions {
  readonly architecture: Architecture;
  /** This process, the only one that may be signalled. */
  readonly pid: number;
  /** TCP sockets may be made and connected (Landlock compares the port). */
  readonly tcpConnect: boolean;
  /** TCP sockets may be made, bound and listened on (Landlock compares the port). */
  readonly tcpBind: boolean;
  /** UDP sockets may be made, bound and written to any address (nothing below compares it). */
  readonly udp: boolean;
  /** Unix stream sockets may be made, bound and listened on; connecting one is never allowed with them alone. */
  readonly unixSockets: boolean;
  /** Times of open files may be set (it needs no write access to the file, so only where there is something to write). */
  readonly fileTimes: boolean;
}

const AUDIT_ARCH: Readonly<Record<Architecture, number>> = { x86_64: 0xc000003e, aarch64: 0xc00000b7 };

const LENT_RIGHTS = 0o6000; // S_ISUID, S_ISGID: whoever starts the file has its owner's rights
const CLONE_THREAD = 0x00010000;
const CLONE_NEW_ANY = 0x7e020000; // NS, CGROUP, UTS, IPC, USER, PID, NET
const AF_UNIX = 1;
const SOCKET_TYPE_MASK = 0xf; // the rest of the word is SOCK_CLOEXEC and SOCK_NONBLOCK
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const MSG_FASTOPEN = 0x20000000;

// A terminal's own size and modes, and what std and tokio ask of any descriptor. Left out on purpose: TIOCSTI and
// TIOCLINUX (type into the user's shell), TIOCSCTTY, TIOCSPGRP, TIOCSETD, FIOASYNC/FIOSETOWN (signal others),
// FS_IOC_SETFLAGS and kin (metadata of read-only files), SIOC* (the machine's network).
const IOCTL_ALLOWED = [
  ...[0x5401, 0x5402, 0x5403, 0x5404], // TCGETS, TCSETS, TCSETSW, TCSETSF
  ...[0x802c542a, 0x402c542b, 0x402c542c, 0x402c542d], // the same four with speeds (glibc 2.42)
  ...[0x540f, 0x5413], // TIOCGPGRP, TIOCGWINSZ
  ...[0x541b, 0x5421, 0x5450, 0x5451], // FIONREAD, FIONBIO, FIONCLEX, FIOCLEX
];

// Left out on purpose: F_SETOWN, F_SETOWN_EX and F_SETSIG (signals to any process of the user), F_SETLEASE, F_NOTIFY.
const FCNTL_ALLOWED = [
  ...[0, 1, 2, 3, 4, 5, 6, 7], // DUPFD, GETFD, SETFD, GETFL, SETFL, GETLK, SETLK, SETLKW
  ...[9, 36, 37, 38], // GETOWN, OFD_GETLK, OFD_SETLK, OFD_SETLKW
  ...[1027, 1030, 1032, 1034], // DUPFD_QUERY, DUPFD_CLOEXEC, GETPIPE_SZ, GET_SEALS
];

// What changes only this thread's name, a mapping's label or nothing. Left out: PDEATHSIG (a cell must die with its
// parent), SET_MM, SET_DUMPABLE, SET_PTRACER, SET_CHILD_SUBREAPER, CAP_AMBIENT, SET_SECCOMP.
const PRCTL_ALLOWED = [
  ...[2, 3, 15, 16, 21, 23], // GET_PDEATHSIG, GET_DUMPABLE, SET_NAME, GET_NAME, GET_SECCOMP, CAPBSET_READ
  ...[29, 30, 38, 39], // SET_TIMERSLACK, GET_TIMERSLACK, SET_NO_NEW_PRIVS, GET_NO_NEW_PRIVS
  ...[42, 51, 52, 56, 64], // GET_THP_DISABLE, SVE_GET_VL, GET_SPECULATION_CTRL, GET_TAGGED_ADDR_CTRL, SME_GET_VL
  0x53564d41, // SET_VMA
];

// SOL_SOCKET and TCP. Left out on purpose: IP and IPv6 (as root their options rewrite the machine's packet filter), and
// the options that attach programs, bind to devices, mark packets, repair connections or stack protocols.
const SOCKET_LEVELS = [1, 6];
const SOCKET_OPTIONS = [
  ...[1, 4, 5, 6, 18], // TCP: NODELAY, KEEPIDLE, KEEPINTVL, KEEPCNT, USER_TIMEOUT
  ...[2, 7, 8, 9, 13, 15, 20, 21], // REUSEADDR, SNDBUF, RCVBUF, KEEPALIVE, LINGER, REUSEPORT, RCVTIMEO, SNDTIMEO
];

// What the runtime sets on each UDP socket that it makes, and takes an error for a failure.
const DATAGRAM_OPTIONS = [[0, 34], [41, 19]] as const; // IP_MULTICAST_LOOP, IPV6_MULTICAST_LOOP

/** The filter of a cell, as instructions; `assemble` makes the bytes. */
export function buildFilter(options: FilterOptions): Instruction[] {
  const { architecture } = options;
  return [
    [OPERATION.loadWord, 0, 0, DATA.architecture],
    [OPERATION.jumpIfEqual, 1, 0, AUDIT_ARCH[architecture]],
    answer(ACTION.eperm), // the 32-bit calls of the same kernel have other numbers
    [OPERATION.loadWord, 0, 0, DATA.number],
    [OPERATION.jumpIfGreater, 0, 1, LAST_JUDGED], // x32 numbers too
    answer(ACTION.enosys),
    // What these two are asked is in memory, out of a filter's sight; callers fall back to the older calls.
    ...onAnyOf([CALLS.clone3, CALLS.openat2].map((call) => numberOn(architecture, call)), ACTION.enosys),
    ...onCall(numberOn(architecture, CALLS.umask), [answer(ACTION.zero)]), // it cannot fail: std would abort
    ...onAnyOf(refusedOn(architecture), ACTION.eperm),
    ...byArguments(options).flatMap(([name, conditions, pairs = []]) => {
      const number = numberOn(architecture, CALLS[name]);
      if (number === NONE) return [];
      if (conditions === "never") return onCall(number, [answer(ACTION.eperm)]);
      return onCall(number, [...pairs.flatMap(allowPair), ...allowIf(conditions)]);
    }),
    answer(ACTION.allow),
  ];
}

function refusedOn(architecture: Architecture): number[] {
  const refused: number[] = [];
  for (const group of Object.values(DENIED)) {
    for (const numbers of Object.values<SyscallNumbers>(group)) {
      const number = numberOn(architecture, numbers);
      if (number !== NONE) refused.push(number);
    }
  }
  return refused;
}

type Judgement = readonly [
  name: CallName,
  conditions: readonly Condition[] | "never",
  /** Allowed although the conditions do not hold. */
  pairs?: readonly Pair[],
];

function byArguments(options: FilterOptions): Judgement[] {
  const ownProcess = [low(0, [options.pid])];
  return [
    ["creat", lendsNothing(1)],
    ["open", lendsNothing(2)],
    ["openat", lendsNothing(3)],
    ["clone", [low(0, [CLONE_THREAD], CLONE_THREAD | CLONE_NEW_ANY)]], // threads only: a cell has no children
    ["prlimit64", [low(0, [0, options.pid]), ...isNull(2)]], // reading the own limits only
    ["utimensat", options.fileTimes ? isNull(1) : "never"], // futimens; a path would follow links
    ["kill", ownProcess],
    ["tgkill", ownProcess],
    ["rt_sigqueueinfo", ownProcess],
    ["rt_tgsigqueueinfo", ownProcess],
    ["ioctl", [low(1, IOCTL_ALLOWED)]],
    ["fcntl", [low(1, FCNTL_ALLOWED)]],
    ["prctl", [low(0, PRCTL_ALLOWED)]],
    ...forSockets(options),
  ];
}

function forSockets({ tcpConnect, tcpBind, udp, unixSockets }: FilterOptions): Judgement[] {
  const anyStream = tcpConnect || tcpBind || unixSockets;
  const anySocket = anyStream || udp;
  const listens = tcpBind || unixSockets;
  const families = [...(tcpConnect || tcpBind || udp ? [2, 10] : []), ...(unixSockets ? [AF_UNIX] : [])];
  const types = low(1, [...(anyStream ? [SOCK_STREAM] : []), ...(udp ? [SOCK_DGRAM] : [])], SOCKET_TYPE_MASK);
  const protocols = [0, ...(anyStream ? [6] : []), ...(udp ? [17] : [])];
  const stream = low(1, [SOCK_STREAM], SOCKET_TYPE_MASK);
  const withoutFastOpen = low(3, [0], MSG_FASTOPEN);
  const always: readonly Condition[] = [];
  return [
    // Protocol: TCP or UDP by name or by default. Landlock does not see MPTCP, SMC or SCTP; ping is a datagram too.
    ["socket", anySocket ? [low(0, families), types, low(2, protocols)] : "never"],
    ["socketpair", [low(0, [AF_UNIX]), stream]], // tokio's signal driver; a datagram pair could send to any socket
    ["connect", tcpConnect ? always : "never"],
    ["bind", listens || udp ? always : "never"], // of a TCP socket Landlock compares the port
    ["listen", listens ? always : "never"], // unbound, it would take a port that no rule names
    ["accept", listens ? always : "never"],
    ["accept4", listens ? always : "never"],
    [
      "setsockopt",
      anySocket ? [low(1, SOCKET_LEVELS), low(2, SOCKET_OPTIONS)] : "never",
      udp ? DATAGRAM_OPTIONS.map((values): Pair => ({ argument: 1, values })) : [],
    ],
    // No address and no MSG_FASTOPEN: both reach a peer without connect, where Landlock does not look. A datagram needs
    // its address; on a TCP socket one without MSG_FASTOPEN is ignored.
    ["sendto", udp ? [withoutFastOpen] : [...isNull(4), withoutFastOpen]],
  ];
}

/** No file is made with a mode that lends its owner's rights; `chmod` is refused as a whole. */
function lendsNothing(mode: number): Condition[] {
  return [low(mode, [0], LENT_RIGHTS)];
}

function low(argument: number, values: readonly number[], mask?: number): Condition {
  return { argument, half: "low", values, ...(mask === undefined ? {} : { mask }) };
}

function isNull(argument: number): Condition[] {
  return [{ argument, half: "low", values: [0] }, { argument, half: "high", values: [0] }];
}

const SECCOMP_SET_MODE_FILTER = 1;
const SECCOMP_FILTER_FLAG_TSYNC = 1;

/** Raises the filter on every thread of this process; `no_new_privs` must be set. @throws `hull.failed` */
export function raiseSeccomp(libc: Libc, options: Omit<FilterOptions, "architecture">): void {
  const program = assemble(buildFilter({ ...options, architecture: libc.architecture }));
  const description = new BigUint64Array([BigInt(program.length / 8), libc.addressOf(program)]); // struct sock_fprog
  const result = libc.call("seccomp", SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, description);
  if (result === 0) return;
  const why = result > 0 ? `thread ${result} could not be reached` : `the kernel said ${errnoName(-result)}`;
  throw new CapsuleError("hull.failed", `Raise seccomp on ${program.length / 8} instructions: ${why}`);
}
