/**
 * Attempts on the kernel itself, by system calls that no guest has an import for. Where no wall stands each must be
 * looked at by the kernel; what would hurt the machine is asked for in a way that the kernel then finds wrong.
 */
import type { Attempt } from "./attempt.ts";

const ownFile: Pick<Attempt, "guest" | "guestTwin" | "injectedTwin"> = {
  guest: {},
  guestTwin: ({ readFile }) => readFile("/data/a.txt") === "granted",
  injectedTwin: (_, { data }) => Deno.readTextFileSync(`${data}/a.txt`) === "granted",
};

/** Processes that are not the cell: the parent, and one that has nothing to do with it. */
export const otherProcesses: Attempt = {
  ...ownFile,
  injected: {
    kill: ({ kernel }, { bystander }) => kernel("kill", bystander, 0) === 0,
    killParent: ({ kernel, parent }) => kernel("kill", parent, 0) === 0,
    killAll: ({ kernel }) => kernel("kill", -1, 0) === 0,
    killGroup: ({ kernel }) => kernel("kill", 0, 0) === 0,
    tgkill: ({ kernel }, { bystander }) => kernel("tgkill", bystander, bystander, 0) === 0,
    tkill: ({ kernel }, { bystander }) => kernel("tkill", bystander, 0) === 0,
    queue: ({ kernel }, { bystander }) => {
      const information = new Int32Array(32);
      information[2] = -1; // SI_QUEUE
      return kernel("rt_sigqueueinfo", bystander, 0, new Uint8Array(information.buffer)) === 0;
    },
    pidfd: ({ kernel }, { bystander }) => kernel("pidfd_open", bystander, 0) > 0,
    pidfdSignal: ({ reaches }) => reaches("pidfd_send_signal", -1, 0, 0, 0),
    pidfdGet: ({ reaches }) => reaches("pidfd_getfd", -1, 9, 0),
    madvise: ({ reaches }) => reaches("process_madvise", -1, 0, 0, 20, 0),
    release: ({ reaches }) => reaches("process_mrelease", -1, 0),
    affinity: ({ kernel }, { bystander }) =>
      kernel("sched_setaffinity", bystander, 8, new Uint8Array(8).fill(255)) === 0,
    scheduler: ({ reaches }, { bystander }) => reaches("sched_setscheduler", bystander, 0, new Uint8Array(4)),
    priority: ({ kernel }, { bystander }) => kernel("setpriority", 0, bystander, 1) === 0,
    inputPriority: ({ reaches }, { bystander }) => reaches("ioprio_set", 1, bystander, 0x4004),
    limits: ({ kernel }, { bystander }) => kernel("prlimit64", bystander, 4, 0, new Uint8Array(16)) === 0,
    group: ({ reaches }, { bystander }) => reaches("setpgid", bystander, bystander),
    // The owner of a file is signalled when it can be read: any process of the user.
    owner: ({ kernel }, { bystander }) => kernel("fcntl", 0, 8, bystander) === 0,
  },
  byHost: {
    // Yama lets a process trace its descendants alone.
    trace: ({ kernel }, { bystander }) => kernel("ptrace", 0x4206, bystander, 0, 0) === 0,
    readMemory: ({ reaches, addressOf }, { bystander }) => {
      const bytes = new Uint8Array(8);
      const piece = new BigUint64Array([addressOf(bytes), 8n]);
      return reaches("process_vm_readv", bystander, piece, 1, piece, 1, 0);
    },
    writeMemory: ({ reaches, addressOf }, { bystander }) => {
      const bytes = new Uint8Array(8);
      const piece = new BigUint64Array([addressOf(bytes), 8n]);
      return reaches("process_vm_writev", bystander, piece, 1, piece, 1, 0);
    },
    compare: ({ reaches, parent }, { bystander }) => reaches("kcmp", parent, bystander, 0, 0, 0),
    robustList: ({ kernel }, { bystander }) =>
      kernel("get_robust_list", bystander, new Uint8Array(8), new Uint8Array(8)) === 0,
    movePages: ({ reaches }, { bystander }) => reaches("move_pages", bystander, 0, 0, 0, 0, 0),
  },
};

/**
 * Further processes, of which a bomb is made. The first makes one, which ends at once; the others ask for flags that
 * contradict each other, so that none is made.
 */
export const forks: Attempt = {
  ...ownFile,
  injected: {
    fork: () => {
      const { symbols } = Deno.dlopen("libc.so.6", {
        fork: { parameters: [], result: "i32" },
        _exit: { parameters: ["i32"], result: "void" },
      });
      const child = symbols.fork();
      if (child === 0) symbols._exit(0);
      return child > 0;
    },
    clone: ({ reaches }) => reaches("clone", 0x800 | 17, 0, 0, 0, 0), // CLONE_SIGHAND without CLONE_VM
    vfork: ({ reaches }) => reaches("clone", 0x4000 | 0x800 | 17, 0, 0, 0, 0),
    clone3: ({ reaches }) => reaches("clone3", 0, 0),
  },
};

/** Further threads by the kernel's own call: one on memory that is there costs none. */
export const threads: Attempt = {
  ...ownFile,
  injected: {
    clone: ({ reaches }) => reaches("clone", 0x10000, 0, 0, 0, 0), // CLONE_THREAD without CLONE_SIGHAND
  },
};

/** Another view of the file system, of the network, of everything. */
export const namespaces: Attempt = {
  ...ownFile,
  injected: {
    // Flags that contradict each other, so that no child is made.
    cloneUser: ({ reaches }) => reaches("clone", 0x10000000 | 0x200 | 17, 0, 0, 0, 0),
    cloneMounts: ({ reaches }) => reaches("clone", 0x00020000 | 0x200 | 17, 0, 0, 0, 0),
    unshareUser: ({ reaches }) => reaches("unshare", 0x10000000),
    setns: ({ reaches }) => reaches("setns", -1, 0),
    openTree: ({ reaches }) => reaches("open_tree", -1, "/nowhere", 0),
    mountsOfOthers: ({ reaches }) => reaches("statmount", 0, 0, 0, 0),
  },
  asRoot: {
    unshareNetwork: ({ kernel }) => kernel("unshare", 0x40000000) === 0,
    unshareNames: ({ kernel }) => kernel("unshare", 0x04000000) === 0,
    mount: ({ reaches }, { work }) => reaches("mount", "none", `${work}/nowhere`, "tmpfs", 0, 0),
    unmount: ({ reaches }, { work }) => reaches("umount2", `${work}/nowhere`, 0),
    pivot: ({ reaches }, { work }) => reaches("pivot_root", `${work}/nowhere`, `${work}/nowhere`),
    chroot: ({ kernel }) => kernel("chroot", "/") === 0,
    makeFiles: ({ kernel }) => kernel("fsopen", "tmpfs", 0) > 0,
    move: ({ reaches }) => reaches("move_mount", -1, "/nowhere", -1, "/nowhere", 0),
    attributes: ({ reaches }) => reaches("mount_setattr", -1, "/nowhere", 0, new Uint8Array(32), 32),
  },
};

/** Sockets that reach neither the gate nor any granted port. */
export const otherSockets: Attempt = {
  ...ownFile,
  injected: {
    netlink: ({ kernel }) => kernel("socket", 16, 3, 0) > 0,
    routing: ({ kernel }) => kernel("socket", 16, 2, 0) > 0,
    unixDatagram: ({ kernel }) => kernel("socket", 1, 2, 0) > 0,
    pair: ({ kernel }) => kernel("socketpair", 1, 2, 0, new Uint8Array(8)) === 0,
    crypto: ({ reaches }) => reaches("socket", 38, 5, 0),
    machine: ({ reaches }) => reaches("socket", 40, 1, 0),
    bluetooth: ({ reaches }) => reaches("socket", 31, 3, 1),
    multipath: ({ reaches }) => reaches("socket", 2, 1, 262),
    message: ({ reaches }) => reaches("sendmsg", -1, 0, 0),
  },
  asRoot: {
    packet: ({ kernel }) => kernel("socket", 17, 3, 0x0300) > 0,
    raw: ({ kernel }) => kernel("socket", 2, 3, 1) > 0,
  },
};

/** Parts of the kernel that no capsule needs, each with a history of holes. */
export const kernelSurface: Attempt = {
  ...ownFile,
  injected: {
    keys: ({ kernel }) => kernel("add_key", "user", "boll-escape", "x", 1, -2) > 0,
    keyring: ({ reaches }) => reaches("keyctl", 0, -3, 0),
    keyRequest: ({ reaches }) => reaches("request_key", "user", "boll-escape-none", 0, 0),
    watch: ({ kernel }) => kernel("inotify_init1", 0) > 0,
    handle: ({ reaches }, { data }) =>
      reaches("name_to_handle_at", -100, data, new Uint8Array(200), new Uint8Array(8), 0),
    asynchronous: ({ reaches }) => reaches("io_setup", 0, 0),
    pages: ({ reaches }) => reaches("vmsplice", -1, 0, 0, 0),
    splice: ({ reaches }) => reaches("splice", -1, 0, -1, 0, 0, 0),
    sharedMemory: ({ reaches }) => reaches("shmget", 0x626f6c6c, 1, 0),
    messages: ({ reaches }) => reaches("msgget", 0x626f6c6c, 0),
    semaphores: ({ reaches }) => reaches("semget", 0x626f6c6c, 1, 0),
    queue: ({ reaches }) => reaches("mq_open", "boll-escape", 0, 0, 0),
    segments: ({ reaches }) => reaches("modify_ldt", 0, new Uint8Array(16), 16),
  },
  asRoot: {
    events: ({ kernel }) => kernel("fanotify_init", 0, 0) > 0,
    // The handle of a file is a number: whoever may open by it needs no name that leads there.
    openByHandle: ({ kernel }, { outside, data }) => {
      const handle = new Uint8Array(136);
      new DataView(handle.buffer).setUint32(0, 128, true);
      kernel("name_to_handle_at", -100, `${outside}/secret-0.txt`, handle, new Uint8Array(8), 0);
      const folder = kernel("openat", -100, data, 0);
      return kernel("open_by_handle_at", folder, handle, 0) > 0;
    },
  },
  byHost: {
    rings: ({ kernel }) => kernel("io_uring_setup", 1, new Uint8Array(120)) > 0,
    faults: ({ kernel }) => kernel("userfaultfd", 1) > 0,
    programs: ({ reaches }) => reaches("bpf", 0, new Uint8Array(120), 120),
    counters: ({ reaches }) => reaches("perf_event_open", new Uint8Array(128), 0, -1, -1, 0),
  },
};

/** What the process is to the kernel: its user, its rights, its kind, and what it and its parent share. */
export const identity: Attempt = {
  ...ownFile,
  injected: {
    user: ({ kernel }) => kernel("setuid", Deno.uid()!) === 0,
    users: ({ kernel }) => kernel("setresuid", -1, -1, -1) === 0,
    group: ({ kernel }) => kernel("setgid", Deno.gid()!) === 0,
    files: ({ kernel }) => kernel("setfsuid", -1) >= 0,
    rights: ({ reaches }) => reaches("capset", 0, 0),
    kind: ({ kernel }) => kernel("personality", 0xffffffff) >= 0,
    dumps: ({ kernel }) => kernel("prctl", 4, 1, 0, 0, 0) === 0,
    orphan: ({ kernel }) => kernel("prctl", 1, 0, 0, 0, 0) === 0,
    reaper: ({ kernel }) => kernel("prctl", 36, 0, 0, 0, 0) === 0,
    limits: ({ reaches }) => reaches("setrlimit", 4, new Uint8Array(16)),
    limitsOfOwn: ({ kernel }) => kernel("prlimit64", 0, 4, new Uint8Array(16), 0) === 0,
  },
  asRoot: {
    groups: ({ kernel }) => kernel("setgroups", 0, 0) === 0,
  },
};

/** Commands to the terminal that type for its user, take it over, or redirect it; and to files, of the same kind. */
export const terminalCommands: Attempt = {
  ...ownFile,
  injected: {
    type: ({ reaches }) => reaches("ioctl", 0, 0x5412, "x"), // TIOCSTI
    paste: ({ reaches }) => reaches("ioctl", 0, 0x541c, "\x03"), // TIOCLINUX
    takeOver: ({ reaches }) => reaches("ioctl", 0, 0x540e, 0), // TIOCSCTTY
    foreground: ({ reaches }) => reaches("ioctl", 0, 0x5410, new Uint8Array(4)), // TIOCSPGRP
    discipline: ({ reaches }) => reaches("ioctl", 0, 0x5423, new Uint8Array(4)), // TIOCSETD
    resize: ({ reaches }) => reaches("ioctl", 0, 0x5414, new Uint8Array(8)), // TIOCSWINSZ
    keys: ({ reaches }) => reaches("ioctl", 0, 0x4b47, new Uint8Array(4)), // KDSKBENT
    signals: ({ reaches }) => reaches("ioctl", 0, 0x5452, new Uint8Array(4)), // FIOASYNC
    attributes: ({ reaches }) => reaches("ioctl", 0, 0x40086602, new Uint8Array(8)), // FS_IOC_SETFLAGS
    network: ({ reaches }) => reaches("ioctl", 0, 0x8912, new Uint8Array(16)), // SIOCGIFCONF
  },
  byHost: {
    console: ({ reaches }) => reaches("ioctl", 0, 0x541d, 0), // TIOCCONS
  },
};

/** The machine: its clock, name, disks, kernel, and end. */
export const machine: Attempt = {
  ...ownFile,
  injected: {
    clocks: ({ reaches }) => reaches("clock_adjtime", 0, 0),
    clock: ({ reaches }) => reaches("adjtimex", 0),
    quota: ({ reaches }) => reaches("quotactl", 0x800001, "/nowhere", 0, 0),
    disks: ({ reaches }) => reaches("syncfs", -1),
  },
  asRoot: {
    reboot: ({ reaches }) => reaches("reboot", 0, 0, 0, 0),
    time: ({ kernel }) => kernel("settimeofday", 0, 0) === 0,
    name: ({ reaches }) => reaches("sethostname", 0, 0xffff),
    domain: ({ reaches }) => reaches("setdomainname", 0, 0xffff),
    swap: ({ reaches }, { work }) => reaches("swapon", `${work}/nowhere`, 0),
    noSwap: ({ reaches }, { work }) => reaches("swapoff", `${work}/nowhere`),
    accounts: ({ reaches }, { work }) => reaches("acct", `${work}/nowhere`),
    log: ({ kernel }) => kernel("syslog", 10, 0, 0) >= 0,
    ports: ({ reaches }) => reaches("ioperm", 0, 0, 0),
  },
  byHost: {
    // A locked-down kernel leaves these to nobody.
    module: ({ reaches }) => reaches("init_module", 0, 0, ""),
    moduleFile: ({ reaches }) => reaches("finit_module", -1, "", 0),
    noModule: ({ reaches }) => reaches("delete_module", "boll_escape_none", 0),
    kernel: ({ reaches }) => reaches("kexec_load", 0, 0, 0, 0xffff),
    kernelFile: ({ reaches }) => reaches("kexec_file_load", -1, -1, 0, "", 0xffff),
  },
};
