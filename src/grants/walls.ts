import type { HullRules, PermissionLists, ProcessLimits } from "../base/mod.ts";
import type { Grants, MountMode } from "./grants.ts";
import { gatePortOf, hasScheme, listenPorts, type NetPlaces, toNetPermissions } from "./net_walls.ts";

/** Where one cell works. Absolute real paths. */
export interface CellPlaces extends NetPlaces {
  /** The component's cache folder, or those of several. */
  readonly cache: string | readonly string[];
  /** The cell's private TMPDIR. */
  readonly tmp: string;
  /** The work folder, needed when `fs.work` is granted. */
  readonly work?: string;
}

/** A child of `deno run`: `sources` are the program's own files, `env` the variables it may read. */
export type ChildFlags =
  | {
    readonly kind: "cell";
    readonly grants: Grants;
    readonly places: CellPlaces;
    readonly sources: readonly string[];
    readonly env: readonly string[];
  }
  | {
    readonly kind: "session";
    /** Files and folders. */
    readonly read: readonly string[];
    readonly write: readonly string[];
    /** The executable of its cells. */
    readonly run: string;
    /** Whether it opens a gate, or a door. */
    readonly net: boolean;
    /** Whether it opens a folder that must be this user's own. */
    readonly uid?: boolean;
    readonly sources: readonly string[];
    readonly env: readonly string[];
  }
  | {
    readonly kind: "build";
    readonly component: string;
    readonly staging: string;
    readonly tmp: string;
    readonly sources: readonly string[];
    readonly env: readonly string[];
  };

/** What V8 and the runtime take before a guest has a byte, bytes (measured about 560 MB of RLIMIT_DATA). */
export const HULL_BASE_DATA_BYTES = 600_000_000;

/** What a worker's own V8 isolate adds to that, bytes (measured about 540 MB); with less, the cell aborts at once. */
export const WORKER_DATA_BYTES = 550_000_000;

/** What the host may hold in that thread for its guest, bytes: the names of the largest folder that is listed (1.3 KB each). */
const HELD_DATA_BYTES = 256 * 1024 ** 2;

/** Descriptors of the runtime itself; with too few, a worker aborts. */
const OPEN_FILES_HEADROOM = 128;

/** CPU seconds that a process takes before and after its guest. */
const CPU_SECONDS_HEADROOM = 1;

/** The host folders a guest reaches with this mode. @throws {TypeError} for a mount or a work folder without its place. */
function hostsOf(grants: Grants, work: string | undefined, mode: MountMode): string[] {
  const hosts = grants.fs.mounts.filter((mount) => mount.mode === mode).map(({ host, guest }) => {
    if (host === undefined) throw new TypeError(`The mount ${guest} is not bound`);
    return host;
  });
  if (grants.fs.work === mode) {
    if (work === undefined) throw new TypeError("The work folder is granted and has no place");
    hosts.push(work);
  }
  return [...new Set(hosts)];
}

/** Wall 2: the guest worker's Deno permissions. Read: every mount; write: rw ones; net: the gate and entries; nothing else, ever. */
export function toPermissions(grants: Grants, places: NetPlaces & Pick<CellPlaces, "work">): PermissionLists {
  const write = hostsOf(grants, places.work, "rw");
  const read = [...new Set([...hostsOf(grants, places.work, "ro"), ...write])];
  const net = toNetPermissions(grants, places);
  return {
    read: read.length > 0 && read,
    write: write.length > 0 && write,
    net: net.length > 0 && net,
    env: false,
    run: false,
    ffi: false,
    sys: false,
    import: false,
  };
}

/**
 * Wall 2 of a `deno run` child's main thread, as flags. A cell with a writable place keeps read and write unscoped:
 * making a link needs both (the host's own walk binds it).
 */
export function toFlags(child: ChildFlags): string[] {
  const env = listFlag("env", child.env);
  if (child.kind === "build") {
    return [
      ...listFlag("read", [...child.sources, child.component, child.staging, child.tmp]),
      ...listFlag("write", [child.staging, child.tmp]),
      ...env,
    ];
  }
  if (child.kind === "session") {
    return [
      ...listFlag("read", [...child.sources, ...child.read, ...child.write]),
      ...listFlag("write", child.write),
      ...listFlag("run", [child.run]),
      ...(child.net ? ["--allow-net"] : []),
      ...(child.uid ? ["--allow-sys=uid"] : []),
      "--allow-ffi",
      ...env,
    ];
  }
  const { read, write, net } = toPermissions(child.grants, child.places);
  const netFlags = listFlag("net", net === false ? [] : net);
  if (write !== false) return ["--allow-read", "--allow-write", ...netFlags, ...env];
  const { cache, tmp } = child.places;
  return [
    ...listFlag("read", [...child.sources, ...[cache].flat(), tmp, ...(read === false ? [] : read)]),
    ...listFlag("write", [tmp]),
    ...netFlags,
    ...env,
  ];
}

/** An empty list is no flag: the bare flag would allow everything. A comma in a path is doubled. */
function listFlag(name: string, values: readonly string[]): string[] {
  if (values.length === 0) return [];
  return [`--allow-${name}=${values.map((value) => value.replaceAll(",", ",,")).join(",")}`];
}

/** Where a guest runs: in a thread of its own, with lists, or in the cell's main one, with everything revoked. */
export type GuestThread = "own" | "main";

/**
 * With nothing but stdio, clocks and random granted a thread of its own adds no wall (everything revoked is narrower
 * than any list) and costs 25 ms.
 */
export function guestThread(grants: Grants): GuestThread {
  const { fs, net } = grants;
  return fs.work === undefined && fs.mounts.length === 0 && net.length === 0 ? "main" : "own";
}

/** Wall 3: kernel limits of the cell's process, each a barrier behind the host's own exact count. */
export function toProcess(grants: Grants, thread: GuestThread, instances = 1): ProcessLimits {
  const { memory_mb, cpu_seconds, file_bytes, open_files } = grants.limits;
  const threadBytes = thread === "own" ? WORKER_DATA_BYTES + HELD_DATA_BYTES : 0;
  return {
    dataBytes: HULL_BASE_DATA_BYTES + threadBytes + instances * memory_mb * 1024 ** 2,
    ...(cpu_seconds === undefined ? {} : { cpuSeconds: cpu_seconds + CPU_SECONDS_HEADROOM }),
    fileBytes: file_bytes,
    openFiles: open_files + OPEN_FILES_HEADROOM,
  };
}

/**
 * Wall 4: the cell's own hull. No exec; of the network the gate's port, the `listen` ports, and datagrams only with a
 * `udp` entry; `tty` is for the caller to set, who knows the descriptors.
 */
export function toHull(grants: Grants, places: NetPlaces & Pick<CellPlaces, "cache" | "work">): HullRules {
  const write = hostsOf(grants, places.work, "rw");
  return {
    read: [...[places.cache].flat(), ...hostsOf(grants, places.work, "ro")],
    write,
    execute: [],
    symlinks: write.length > 0,
    unixSockets: false,
    tty: false,
    tcpConnect: gatePortOf(grants, places),
    tcpBind: listenPorts(grants),
    udp: hasScheme(grants, "udp"),
    seccomp: true,
  };
}
