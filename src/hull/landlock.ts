import { CapsuleError, type HullRules, printableLine } from "../base/mod.ts";
import { cString, errnoName, type Libc } from "./libc.ts";

/** Rights on files, by their bit (linux/landlock.h). */
const FS = {
  EXECUTE: 1n << 0n,
  WRITE_FILE: 1n << 1n,
  READ_FILE: 1n << 2n,
  READ_DIR: 1n << 3n,
  REMOVE_DIR: 1n << 4n,
  REMOVE_FILE: 1n << 5n,
  MAKE_DIR: 1n << 7n,
  MAKE_REG: 1n << 8n,
  MAKE_SOCK: 1n << 9n,
  MAKE_SYM: 1n << 12n,
  REFER: 1n << 13n,
  TRUNCATE: 1n << 14n,
  IOCTL_DEV: 1n << 15n,
} as const;

const NET_BIND_TCP = 1n;
const NET_CONNECT_TCP = 2n;
const SCOPE_ABSTRACT_UNIX_SOCKET = 1n;
const SCOPE_SIGNAL = 2n;

const READ = FS.READ_FILE | FS.READ_DIR;
// Devices and FIFOs are never made. REFER lets a rename cross directories; the kernel refuses it where the file would
// gain rights, so a file of a read-only place can be neither moved nor linked into a writable one.
const WRITE = READ | FS.WRITE_FILE | FS.TRUNCATE | FS.REMOVE_DIR | FS.REMOVE_FILE | FS.MAKE_DIR | FS.MAKE_REG |
  FS.REFER;
const EXECUTE = READ | FS.EXECUTE;
const TERMINAL = FS.READ_FILE | FS.WRITE_FILE | FS.IOCTL_DEV;
const FILE_RIGHTS = FS.EXECUTE | FS.WRITE_FILE | FS.READ_FILE | FS.TRUNCATE | FS.IOCTL_DEV;

const CREATE_RULESET_VERSION = 1;
const RULE_PATH_BENEATH = 1;
const RULE_NET_PORT = 2;
const RESTRICT_SELF_TSYNC = 8; // ABI 8
const O_PATH_CLOEXEC = 0o12000000;
const RESOLVE_NO_SYMLINKS = 4n;
const AT_FDCWD = -100;
const EINVAL = 22;
const EMFILE = 24;

/** The three words of `landlock_ruleset_attr`, and how many bytes of it this ABI knows. */
export interface Handled {
  readonly fs: bigint;
  readonly net: bigint;
  readonly scoped: bigint;
  readonly size: 8 | 16 | 24;
}

/** Everything that ABI `abi` (1 or more) can refuse; what is handled and in no rule is refused. */
export function handledBy(abi: number): Handled {
  const bits = abi >= 5 ? 16n : abi >= 3 ? 15n : abi >= 2 ? 14n : 13n;
  return {
    fs: (1n << bits) - 1n,
    net: abi >= 4 ? NET_BIND_TCP | NET_CONNECT_TCP : 0n,
    scoped: abi >= 6 ? SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL : 0n,
    size: abi >= 6 ? 24 : abi >= 4 ? 16 : 8,
  };
}

/** One path and the rights on it and all below, before the ABI cuts them. */
export interface PathRule {
  readonly path: string;
  readonly rights: bigint;
  /** Follow the last link: only for the magic links of the own terminal. */
  readonly follow?: true;
}

/** One TCP port and its rights. */
export interface PortRule {
  readonly port: number;
  readonly rights: bigint;
}

/** The path rules of `rules`; `terminals` are the descriptors 0-2 that are terminals. */
export function toPathRules(rules: HullRules, terminals: readonly number[]): PathRule[] {
  const write = WRITE | (rules.symlinks ? FS.MAKE_SYM : 0n) | (rules.unixSockets ? FS.MAKE_SOCK : 0n);
  return [
    ...rules.read.map((path) => ({ path, rights: READ })),
    ...rules.write.map((path) => ({ path, rights: write })),
    ...rules.execute.map((path) => ({ path, rights: EXECUTE })),
    ...(rules.tty ? terminals : []).map((fd) => (
      { path: `/proc/self/fd/${fd}`, rights: TERMINAL, follow: true } as const
    )),
  ];
}

/** The port rules of `rules`. */
export function toPortRules(rules: HullRules): PortRule[] {
  return [
    ...rules.tcpConnect.map((port) => ({ port, rights: NET_CONNECT_TCP })),
    ...rules.tcpBind.map((port) => ({ port, rights: NET_BIND_TCP })),
  ];
}

/** ABI version of the running kernel, or `-errno` (ENOSYS not built, EOPNOTSUPP not enabled, EPERM filtered). */
export function landlockAbi(libc: Libc): number {
  return libc.call("landlock_create_ruleset", 0, 0, CREATE_RULESET_VERSION);
}

/** What one layer allows. */
export interface Layer {
  readonly paths: readonly PathRule[];
  readonly ports: readonly PortRule[] | "any";
  /** Of one process the first layer alone: what it starts behind that is out of the reach of its signals if another does. */
  readonly scopesSignals: boolean;
}

/** Confines this thread and all it starts; `no_new_privs` must be set. @throws `hull.failed` */
export function raiseLandlock(libc: Libc, abi: number, { paths, ports, scopesSignals }: Layer): void {
  const all = handledBy(abi);
  const handled = {
    ...all,
    net: ports === "any" ? 0n : all.net,
    scoped: scopesSignals ? all.scoped : all.scoped & ~SCOPE_SIGNAL,
  };
  const attributes = new BigUint64Array([handled.fs, handled.net, handled.scoped]);
  const ruleset = succeed(
    libc.call("landlock_create_ruleset", attributes, handled.size, 0),
    "Make the Landlock ruleset",
  );
  try {
    for (const rule of paths) addPath(libc, ruleset, handled.fs, rule);
    if (ports !== "any" && handled.net !== 0n) { for (const rule of ports) addPort(libc, ruleset, rule); }
    restrict(libc, ruleset, abi);
  } finally {
    libc.call("close", ruleset);
  }
}

function restrict(libc: Libc, ruleset: number, abi: number): void {
  // From ABI 8 on the kernel can reach every thread; where it will not, this thread alone is what older ABIs give.
  if (abi >= 8 && libc.call("landlock_restrict_self", ruleset, RESTRICT_SELF_TSYNC) === 0) return;
  succeed(libc.call("landlock_restrict_self", ruleset, 0), "Raise Landlock");
}

function addPath(libc: Libc, ruleset: number, handled: bigint, rule: PathRule): void {
  const rights = rule.rights & handled;
  if (rights === 0n) return;
  const place = openPlace(libc, rule);
  try {
    const attribute = new Uint8Array(12); // packed: u64 rights, s32 descriptor
    const view = new DataView(attribute.buffer);
    view.setInt32(8, place, true);
    view.setBigUint64(0, rights, true);
    let result = libc.call("landlock_add_rule", ruleset, RULE_PATH_BENEATH, attribute, 0);
    if (result === -EINVAL) { // a file takes no rights of directories
      view.setBigUint64(0, rights & FILE_RIGHTS, true);
      result = libc.call("landlock_add_rule", ruleset, RULE_PATH_BENEATH, attribute, 0);
    }
    succeed(result, `Add the Landlock rule for ${printableLine(rule.path)}`);
  } finally {
    libc.call("close", place);
  }
}

function openPlace(libc: Libc, rule: PathRule): number {
  const shown = printableLine(rule.path);
  if (!rule.path.startsWith("/") || rule.path.includes("\0")) {
    throw new CapsuleError("hull.failed", `Open a place of the kernel wall: ${shown} is not an absolute path`);
  }
  const how = new BigUint64Array([BigInt(O_PATH_CLOEXEC), 0n, rule.follow ? 0n : RESOLVE_NO_SYMLINKS]);
  const result = libc.call("openat2", AT_FDCWD, cString(rule.path), how, 24);
  const hint = result === -40 ? "; it goes through a link, name the real path" : "";
  return succeed(result, `Open a place of the kernel wall: ${shown}`, hint);
}

function addPort(libc: Libc, ruleset: number, rule: PortRule): void {
  if (!Number.isInteger(rule.port) || rule.port < 1 || rule.port > 65535) {
    throw new CapsuleError("hull.failed", `Add a port to the kernel wall: ${rule.port} is not a port from 1 to 65535`);
  }
  const attribute = new BigUint64Array([rule.rights, BigInt(rule.port)]);
  succeed(
    libc.call("landlock_add_rule", ruleset, RULE_NET_PORT, attribute, 0),
    `Add port ${rule.port} to the kernel wall`,
  );
}

/** `result`, unless it is `-errno`. @throws `hull.failed` naming `action`, the errno and `hint` */
export function succeed(result: number, action: string, hint = ""): number {
  if (result === -EMFILE) hint ||= "; raise the limit of open files (`ulimit -n`)";
  if (result < 0) throw new CapsuleError("hull.failed", `${action}: the kernel said ${errnoName(-result)}${hint}`);
  return result;
}
