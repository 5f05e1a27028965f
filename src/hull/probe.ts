import { CapsuleError } from "../base/mod.ts";
import { landlockAbi } from "./landlock.ts";
import { errnoName, Libc } from "./libc.ts";
import { ACTION } from "./bpf.ts";

/** What this host could confine, asked of the running kernel. */
export interface HullProbe {
  readonly os: string;
  readonly arch: string;
  /** Kernel release, such as `6.8.0-41-generic`; empty where it is not known. */
  readonly kernel: string;
  /** Landlock ABI version, 0 when there is none. `scoped` needs 3, and 4 with any net grant. */
  readonly landlockAbi: number;
  /** Whether a seccomp filter can be raised on every thread. */
  readonly seccomp: boolean;
  /** One sentence for each thing that is missing or weak, with how to get it; empty when all is there. */
  readonly reasons: readonly string[];
}

const SECCOMP_GET_ACTION_AVAIL = 2;
const ENOSYS = 38;
const EPERM = 1;
const EOPNOTSUPP = 95;
const LANDLOCK_SINCE = "5.13";

/** Asks the running kernel what it could confine; changes nothing and never throws. */
export function probeHull(): HullProbe {
  const { os, arch } = Deno.build;
  try {
    using libc = Libc.open();
    return { os, arch, ...probeKernel(libc) };
  } catch (error) {
    if (!(error instanceof CapsuleError)) throw error;
    return { os, arch, kernel: "", landlockAbi: 0, seccomp: false, reasons: [withoutLibc(os, error.message)] };
  }
}

function withoutLibc(os: string, message: string): string {
  if (os === "linux") return message;
  return `${os} has no kernel wall: guests are held by imports, permissions and the process alone; ` +
    "run in a Linux virtual machine or container for the class scoped";
}

function probeKernel(libc: Libc): Omit<HullProbe, "os" | "arch"> {
  const kernel = kernelRelease(libc);
  const abi = landlockAbi(libc);
  const container = containerHint();
  const action = new Uint8Array(4);
  new DataView(action.buffer).setUint32(0, ACTION.eperm & 0xffff0000, true); // SECCOMP_RET_ERRNO
  const seccomp = libc.call("seccomp", SECCOMP_GET_ACTION_AVAIL, 0, action);
  const reasons = [explainLandlock(abi, kernel, container), explainSeccomp(seccomp, container)];
  return {
    kernel,
    landlockAbi: Math.max(0, abi),
    seccomp: seccomp === 0,
    reasons: reasons.filter((reason) => reason !== undefined),
  };
}

/** Why Landlock is missing or weak, and how to get it; `abi` is a version or `-errno`. */
export function explainLandlock(abi: number, kernel: string, container: string | undefined): string | undefined {
  const where = kernel === "" ? "this kernel" : `kernel ${kernel}`;
  if (abi >= 4) return undefined;
  if (abi === 3) return `Landlock ABI 3 on ${where} cannot bind TCP ports: net grants need Linux 6.7 or later`;
  if (abi > 0) return `Landlock ABI ${abi} on ${where} cannot refuse truncation: use Linux 6.2 or later`;
  if (abi === -EOPNOTSUPP) {
    return `Landlock is built into ${where} but not enabled: boot with lsm=landlock,… before the other modules`;
  }
  if (container !== undefined && (abi === -EPERM || (abi === -ENOSYS && isSince(kernel, LANDLOCK_SINCE)))) {
    return `${container}: its seccomp profile refuses Landlock; allow the system calls 444, 445 and 446 in it`;
  }
  if (abi === -ENOSYS && !isSince(kernel, LANDLOCK_SINCE)) {
    return `${where} has no Landlock: use Linux ${LANDLOCK_SINCE} or later, best 6.7`;
  }
  if (abi === -ENOSYS) return `${where} was built without Landlock: use a kernel with CONFIG_SECURITY_LANDLOCK=y`;
  return `Landlock is refused on ${where} (${errnoName(-abi)}): a filter around this process forbids call 444`;
}

/** Why seccomp is missing, and how to get it; `result` is 0 or `-errno`. */
export function explainSeccomp(result: number, container: string | undefined): string | undefined {
  if (result === 0) return undefined;
  const fix = container === undefined
    ? "use a kernel with CONFIG_SECCOMP_FILTER=y"
    : `${container}: allow the system call seccomp in its profile`;
  return `A seccomp filter cannot be raised here (${errnoName(-result)}): ${fix}`;
}

function isSince(kernel: string, version: string): boolean {
  const [major = 0, minor = 0] = kernel.split(/[.-]/).map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = version.split(".").map(Number);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}

function kernelRelease(libc: Libc): string {
  const field = 65; // struct utsname: six fields of 65 bytes, the release is the third
  const names = new Uint8Array(6 * field);
  if (libc.call("uname", names) !== 0) return "";
  const release = names.subarray(2 * field, 3 * field);
  return new TextDecoder().decode(release.subarray(0, release.indexOf(0)));
}

function containerHint(): string | undefined {
  const marks = [["/.dockerenv", "Docker container"], ["/run/.containerenv", "Podman container"]] as const;
  return marks.find(([path]) => exists(path))?.[1];
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
