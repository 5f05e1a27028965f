/**
 * The walls' own languages: plain values that `grants/` makes and `hull/`, `guest/` and `session/` apply. They live
 * here because the rooms on both sides of a wall name them and neither may import the other.
 */

/** Wall 2: a worker's permission lists; a list is exactly what is allowed, `false` is nothing. */
export interface PermissionLists {
  readonly read: readonly string[] | false;
  readonly write: readonly string[] | false;
  readonly net: readonly string[] | false;
  readonly env: false;
  readonly run: false;
  readonly ffi: false;
  readonly sys: false;
  readonly import: false;
}

/** Wall 4: what Landlock and seccomp let this process (and everything it starts) do. Paths are absolute and real. */
export interface HullRules {
  /** Files and directories that may be read, with all below. */
  readonly read: readonly string[];
  /** Directories (or files) that may be read and written, with all below: create, remove, rename, truncate. */
  readonly write: readonly string[];
  /** Files and directories whose programs and libraries may be executed (and read). */
  readonly execute: readonly string[];
  /** Symbolic links may be made below `write`. */
  readonly symlinks: boolean;
  /** Unix sockets may be bound below `write` (the parent of a foreground cell listens there). */
  readonly unixSockets: boolean;
  /** Give the terminal that descriptors 0-2 point to READ, WRITE and IOCTL_DEV. */
  readonly tty: boolean;
  /** TCP ports that may be connected to / bound; empty is none. */
  readonly tcpConnect: readonly number[];
  readonly tcpBind: readonly number[];
  /** TCP is left to the walls that are raised below this one; the two lists then count for nothing. */
  readonly anyTcp?: boolean;
  /** Datagram sockets may be made, to any address: Landlock does not see UDP, so seccomp lets all of it or none. */
  readonly udp: boolean;
  /** Raise the seccomp filter (on every thread) too: no exec, no new sockets, no signals, no metadata writes. */
  readonly seccomp: boolean;
}

/** Wall 3: kernel resource limits of a process. Absent is unchanged. */
export interface ProcessLimits {
  /** RLIMIT_DATA, bytes: the crash barrier behind the memory cap (600 MB for V8's own base + the budget). */
  readonly dataBytes?: number;
  /** RLIMIT_CPU, whole seconds. */
  readonly cpuSeconds?: number;
  /** RLIMIT_FSIZE, bytes; SIGXFSZ is ignored, so that it is an error and not a death. */
  readonly fileBytes?: number;
  /** RLIMIT_NOFILE, with headroom for the runtime. */
  readonly openFiles?: number;
}

/** What a process that starts others is bound to. Absent is unchanged. */
export interface ProcessBounds {
  /** RLIMIT_DATA, bytes, soft: a child sets its own. */
  readonly dataBytes?: number;
  /** RLIMIT_CPU, whole seconds: SIGXCPU, and SIGKILL {@link CPU_GRACE_SECONDS} later. Each child has as many of its own. */
  readonly cpuSeconds?: number;
  /** -20 to 19; a negative one only where the system allows it. */
  readonly nice?: number;
}

/** How long a process has, after it has used its CPU seconds, to say so. */
export const CPU_GRACE_SECONDS = 5;

/** How strongly a run is contained: `scoped` needs the kernel wall, probed live. */
export type Containment = "advisory" | "scoped";
