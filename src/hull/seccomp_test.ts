import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { ACTION, assemble, OPERATION } from "./bpf.ts";
import { buildFilter, type FilterOptions } from "./seccomp.ts";
import { type Architecture, CALLS, DENIED, LAST_JUDGED, NONE, numberOn } from "./syscalls.ts";

const ARCHITECTURES: readonly Architecture[] = ["x86_64", "aarch64"];
const WORDS: Readonly<Record<Architecture, number>> = { x86_64: 0xc000003e, aarch64: 0xc00000b7 };
const PID = 4711;
const NOTHING = { pid: PID, tcpConnect: false, tcpBind: false, udp: false, unixSockets: false, fileTimes: false };

// What V8, tokio, std and the WASI host were seen to use, and what the C libraries may use instead.
const NEEDED: Readonly<Record<string, readonly [number, number]>> = {
  read: [0, 63],
  write: [1, 64],
  close: [3, 57],
  lseek: [8, 62],
  mmap: [9, 222],
  mprotect: [10, 226],
  munmap: [11, 215],
  rt_sigaction: [13, 134],
  rt_sigprocmask: [14, 135],
  pread64: [17, 67],
  pwrite64: [18, 68],
  readv: [19, 65],
  writev: [20, 66],
  madvise: [28, 233],
  nanosleep: [35, 101],
  getpid: [39, 172],
  exit: [60, 93],
  fsync: [74, 82],
  fdatasync: [75, 83],
  truncate: [76, 45],
  ftruncate: [77, 46],
  sigaltstack: [131, 132],
  gettid: [186, 178],
  futex: [202, 98],
  sched_getaffinity: [204, 123],
  sched_yield: [24, 124],
  getdents64: [217, 61],
  exit_group: [231, 94],
  epoll_ctl: [233, 21],
  openat: [257, 56],
  mkdirat: [258, 34],
  newfstatat: [262, 79],
  unlinkat: [263, 35],
  linkat: [265, 37],
  symlinkat: [266, 36],
  readlinkat: [267, 78],
  epoll_pwait: [281, 22],
  eventfd2: [290, 19],
  epoll_create1: [291, 20],
  pipe2: [293, 59],
  renameat2: [316, 276],
  getrandom: [318, 278],
  membarrier: [324, 283],
  copy_file_range: [326, 285],
  pkey_mprotect: [329, 288],
  statx: [332, 291],
  rseq: [334, 293],
  close_range: [436, 436],
  landlock_restrict_self: [446, 446],
};

/** Runs classic BPF as the kernel does, on `struct seccomp_data`. */
function interpret(program: Uint8Array<ArrayBuffer>, data: DataView): number {
  const code = new DataView(program.buffer);
  let accumulator = 0;
  for (let i = 0; i < program.length / 8; i++) {
    const jump = (yes: boolean) => i += code.getUint8(i * 8 + (yes ? 2 : 3));
    const constant = code.getUint32(i * 8 + 4, true);
    const operation = code.getUint16(i * 8, true);
    if (operation === OPERATION.loadWord) accumulator = data.getUint32(constant, true);
    else if (operation === OPERATION.and) accumulator = (accumulator & constant) >>> 0;
    else if (operation === OPERATION.jumpIfEqual) jump(accumulator === constant);
    else if (operation === OPERATION.jumpIfAtLeast) jump(accumulator >= constant);
    else if (operation === OPERATION.jumpIfGreater) jump(accumulator > constant);
    else if (operation === OPERATION.return) return constant;
    else throw new Error(`Unknown operation ${operation}`);
  }
  throw new Error("The filter ends without an answer");
}

type Ask = (nr: number | readonly [number, number], ...args: (number | bigint)[]) => keyof typeof ACTION;

function asker(options: FilterOptions, word = WORDS[options.architecture]): Ask {
  const program = assemble(buildFilter(options));
  return (nr, ...args) => {
    const data = new DataView(new ArrayBuffer(64));
    data.setUint32(0, typeof nr === "number" ? nr : numberOn(options.architecture, nr), true);
    data.setUint32(4, word, true);
    args.forEach((arg, i) => data.setBigUint64(16 + 8 * i, BigInt.asUintN(64, BigInt(arg)), true));
    const answer = interpret(program, data);
    const found = Object.entries(ACTION).find(([, value]) => value === answer);
    return found![0] as ReturnType<Ask>;
  };
}

function onBoth(options: Omit<FilterOptions, "architecture">, test: (ask: Ask, architecture: Architecture) => void) {
  for (const architecture of ARCHITECTURES) test(asker({ ...options, architecture }), architecture);
}

Deno.test("buildFilter: every denied call is EPERM and every needed one allowed, on both architectures", () => {
  onBoth(NOTHING, (ask, architecture) => {
    for (const group of Object.values(DENIED)) {
      for (const [name, numbers] of Object.entries(group)) {
        if (numberOn(architecture, numbers) !== NONE) assertEquals(ask(numbers), "eperm", `${architecture} ${name}`);
      }
    }
    for (const [name, numbers] of Object.entries(NEEDED)) {
      assertEquals(ask(numbers), "allow", `${architecture} ${name}`);
    }
  });
});

Deno.test("syscalls: no number stands for two calls, none is beyond the last judged one", () => {
  for (const architecture of ARCHITECTURES) {
    const all = [CALLS, ...Object.values(DENIED)].flatMap((group) => Object.entries(group));
    const judged = new Map<number, string>();
    for (const [name, numbers] of all) {
      const number = numberOn(architecture, numbers);
      if (number === NONE) continue;
      assert(number <= LAST_JUDGED, name);
      assert((judged.get(number) ?? name) === name, `${name} and ${judged.get(number)} are both ${number}`);
      judged.set(number, name);
    }
    for (const [name, [x86, arm]] of Object.entries(NEEDED)) {
      const other = judged.get(architecture === "x86_64" ? x86 : arm);
      assert(other === undefined || other === name, `${name} is listed as ${other}`);
    }
  }
});

Deno.test("buildFilter: a foreign architecture is EPERM for everything, unknown and x32 numbers are ENOSYS", () => {
  for (const architecture of ARCHITECTURES) {
    const foreign = asker({ ...NOTHING, architecture }, 0x40000003); // i386
    const own = asker({ ...NOTHING, architecture });
    fc.assert(fc.property(fc.nat(0xffffffff), (nr) => foreign(nr) === "eperm"));
    fc.assert(fc.property(fc.integer({ min: LAST_JUDGED + 1, max: 0xffffffff }), (nr) => own(nr) === "enosys"));
    assertEquals(own(LAST_JUDGED), "eperm"); // listns
    assertEquals(own(NEEDED.read!), "allow");
  }
});

Deno.test("buildFilter: threads yes, processes and namespaces no; clone3 falls back, umask changes nothing", () => {
  const thread = 0x3d0f00; // what pthread_create passes
  onBoth(NOTHING, (ask) => {
    assertEquals(ask(CALLS.clone, thread), "allow");
    assertEquals(ask(CALLS.clone, 0x01200011), "eperm"); // fork
    assertEquals(ask(CALLS.clone, 0x4111), "eperm"); // vfork
    for (const bit of [17, 25, 26, 27, 28, 29, 30]) assertEquals(ask(CALLS.clone, thread | 1 << bit), "eperm");
    assertEquals(ask(CALLS.clone3), "enosys");
    assertEquals(ask(CALLS.umask, 0), "zero");
  });
});

Deno.test("buildFilter: no file is made with the set-uid or set-gid bit; openat2, whose mode is in memory, falls back", () => {
  const create = 0o101;
  onBoth(NOTHING, (ask, architecture) => {
    for (const mode of [0, 0o666, 0o777, 0o1777, 0o100644]) {
      assertEquals(ask(CALLS.openat, -100, 1n << 40n, create, mode), "allow");
    }
    for (const mode of [0o4755, 0o2755, 0o6000]) {
      assertEquals(ask(CALLS.openat, -100, 1n << 40n, create, mode), "eperm");
      if (architecture === "aarch64") continue; // has neither of the old calls
      assertEquals([ask(CALLS.open, 1n << 40n, create, mode), ask(CALLS.creat, 1n << 40n, mode)], ["eperm", "eperm"]);
    }
    if (architecture === "x86_64") assertEquals(ask(CALLS.open, 1n << 40n, 0, 0), "allow");
    assertEquals(ask(CALLS.openat2), "enosys");
  });
});

Deno.test("buildFilter: signals only to this process, by the whole pid", () => {
  onBoth(NOTHING, (ask) => {
    for (const call of [CALLS.kill, CALLS.tgkill, CALLS.rt_sigqueueinfo, CALLS.rt_tgsigqueueinfo]) {
      assertEquals(ask(call, PID), "allow");
      for (const other of [0, 1, -1, -PID, PID + 1]) assertEquals(ask(call, other), "eperm");
    }
  });
});

Deno.test("buildFilter: limits may be read, not set; times only of an open file, and only with a place to write", () => {
  const high = 1n << 40n; // a pointer whose low word is 0
  onBoth({ ...NOTHING, fileTimes: true }, (ask) => {
    assertEquals(ask(CALLS.prlimit64, 0, 7, 0, high), "allow");
    assertEquals(ask(CALLS.prlimit64, PID, 7, 0, high), "allow");
    assertEquals(ask(CALLS.prlimit64, 1, 7, 0, high), "eperm");
    for (const pointer of [1n, high]) assertEquals(ask(CALLS.prlimit64, 0, 7, pointer, 0), "eperm");
    assertEquals(ask(CALLS.utimensat, 5, 0, high), "allow");
    for (const path of [1n, high]) assertEquals(ask(CALLS.utimensat, -100, path, 0), "eperm");
  });
  onBoth(NOTHING, (ask) => assertEquals(ask(CALLS.utimensat, 5, 0, high), "eperm"));
});

Deno.test("buildFilter: ioctl, fcntl and prctl by their command, whatever stands above its 32 bits", () => {
  const above = 1n << 32n;
  const cases = [
    [CALLS.ioctl, 1, [0x5401, 0x5413, 0x5421, 0x5451], [0x5412, 0x541c, 0x5410, 0x540e, 0x5452, 0x8901, 0x40086602]],
    [CALLS.fcntl, 1, [1, 2, 3, 4, 5, 6, 7, 1030], [8, 10, 15, 1024, 1026, 1033]],
    [CALLS.prctl, 0, [15, 16, 38, 39, 0x53564d41], [1, 4, 22, 35, 36, 47, 0x59616d61]],
  ] as const;
  onBoth(NOTHING, (ask) => {
    for (const [call, index, allowed, refused] of cases) {
      const at = (command: number, extra = 0n) => ask(call, ...Array(index).fill(3), BigInt(command) | extra);
      for (const command of allowed) assertEquals(at(command), "allow", `${call} ${command}`);
      for (const command of refused) {
        assertEquals(at(command), "eperm", `${call} ${command}`);
        assertEquals(at(command, above), "eperm", `${call} ${command}`);
      }
    }
  });
});

const SOCKET = { stream: 1 | 0o2000000, datagram: 2, raw: 3 } as const;

Deno.test("buildFilter: without net no socket but a unix stream pair", () => {
  onBoth(NOTHING, (ask) => {
    for (let family = 0; family < 46; family++) assertEquals(ask(CALLS.socket, family, SOCKET.stream, 0), "eperm");
    for (const call of [CALLS.connect, CALLS.bind, CALLS.listen, CALLS.accept, CALLS.accept4, CALLS.setsockopt]) {
      assertEquals(ask(call, 3), "eperm");
    }
    assertEquals(ask(CALLS.socketpair, 1, SOCKET.stream, 0), "allow");
    assertEquals(ask(CALLS.socketpair, 1, SOCKET.datagram, 0), "eperm");
    assertEquals(ask(CALLS.socketpair, 30, SOCKET.stream, 0), "eperm"); // TIPC
  });
});

Deno.test("buildFilter: tcpConnect gives TCP clients only", () => {
  onBoth({ ...NOTHING, tcpConnect: true }, (ask) => {
    for (const family of [2, 10]) {
      for (const protocol of [0, 6]) assertEquals(ask(CALLS.socket, family, SOCKET.stream, protocol), "allow");
      for (const protocol of [132, 256, 262]) assertEquals(ask(CALLS.socket, family, SOCKET.stream, protocol), "eperm");
      for (const type of [SOCKET.datagram, SOCKET.raw]) assertEquals(ask(CALLS.socket, family, type, 0), "eperm");
    }
    for (const family of [1, 16, 17, 38, 40]) assertEquals(ask(CALLS.socket, family, SOCKET.stream, 0), "eperm");
    assertEquals(ask(CALLS.connect, 3), "allow");
    for (const call of [CALLS.bind, CALLS.listen, CALLS.accept4]) assertEquals(ask(call, 3), "eperm");
    for (const [level, option] of [[6, 1], [1, 2], [1, 9]]) {
      assertEquals(ask(CALLS.setsockopt, 3, level!, option!), "allow"); // NODELAY, REUSEADDR, KEEPALIVE
    }
    for (const [level, option] of [[0, 64], [41, 64], [1, 26], [1, 50], [6, 31], [6, 19], [1, 25]]) {
      assertEquals(ask(CALLS.setsockopt, 3, level!, option!), "eperm"); // packet filters, BPF, ULP, repair, device
    }
  });
});

Deno.test("buildFilter: tcpBind and unixSockets listen and do not connect", () => {
  for (const [grant, family] of [[{ tcpBind: true }, 2], [{ unixSockets: true }, 1]] as const) {
    onBoth({ ...NOTHING, ...grant }, (ask) => {
      assertEquals(ask(CALLS.socket, family, SOCKET.stream, 0), "allow");
      assertEquals(ask(CALLS.socket, 3 - family, SOCKET.stream, 0), "eperm");
      for (const call of [CALLS.bind, CALLS.listen, CALLS.accept4]) assertEquals(ask(call, 3), "allow");
      assertEquals(ask(CALLS.connect, 3), "eperm");
    });
  }
});

Deno.test("buildFilter: udp gives UDP sockets to any address, and no other datagrams", () => {
  onBoth({ ...NOTHING, udp: true }, (ask) => {
    for (const family of [2, 10]) {
      for (const protocol of [0, 17]) assertEquals(ask(CALLS.socket, family, SOCKET.datagram, protocol), "allow");
      for (const protocol of [1, 58, 136]) {
        assertEquals(ask(CALLS.socket, family, SOCKET.datagram, protocol), "eperm"); // ping, ping6, UDP-Lite
      }
      for (const type of [SOCKET.stream, SOCKET.raw]) assertEquals(ask(CALLS.socket, family, type, 0), "eperm");
    }
    for (const family of [1, 16, 17]) assertEquals(ask(CALLS.socket, family, SOCKET.datagram, 0), "eperm");
    assertEquals(ask(CALLS.socketpair, 1, SOCKET.datagram, 0), "eperm");
    assertEquals([ask(CALLS.bind, 3), ask(CALLS.sendto, 3, 1, 1, 0, 1n << 40n, 16)], ["allow", "allow"]);
    assertEquals(ask(CALLS.sendto, 3, 1, 1, 0x20000000, 1n << 40n, 16), "eperm"); // MSG_FASTOPEN
    for (const call of [CALLS.connect, CALLS.listen, CALLS.accept4]) assertEquals(ask(call, 3), "eperm");
    for (const [level, option] of [[0, 34], [41, 19], [1, 6]]) {
      assertEquals(ask(CALLS.setsockopt, 3, level!, option!), "allow"); // MULTICAST_LOOP, BROADCAST
    }
    for (const [level, option] of [[0, 19], [0, 35], [41, 34], [41, 20], [0, 64], [1, 34]]) {
      assertEquals(ask(CALLS.setsockopt, 3, level!, option!), "eperm"); // TRANSPARENT, groups, packet filters
    }
  });
});

Deno.test("buildFilter: sendto without an address and without MSG_FASTOPEN, which connects past Landlock", () => {
  onBoth({ ...NOTHING, tcpConnect: true }, (ask) => {
    assertEquals(ask(CALLS.sendto, 3, 1, 1, 0x4000, 0, 0), "allow"); // MSG_NOSIGNAL
    assertEquals(ask(CALLS.sendto, 3, 1, 1, 0x20000000, 0, 0), "eperm");
    for (const address of [1n, 1n << 40n]) assertEquals(ask(CALLS.sendto, 3, 1, 1, 0, address, 16), "eperm");
  });
});
