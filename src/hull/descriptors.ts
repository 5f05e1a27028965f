import { succeed } from "./landlock.ts";
import { cString, type Libc } from "./libc.ts";

const CLOSE_RANGE_CLOEXEC = 4;
const F_SETFD = 2;
const FD_CLOEXEC = 1;
const EBADF = 9;
const ALL = 0xffffffff;
const RLIMIT_NOFILE = 7;

/** A standard descriptor that is a terminal, and the device's path. */
export interface TerminalDescriptor {
  readonly descriptor: 0 | 1 | 2;
  readonly path: string;
}

/** Marks every descriptor from `from` on close-on-exec. @throws `hull.failed` */
export function closeOnExec(libc: Libc, from: number): void {
  if (libc.call("close_range", from, ALL, CLOSE_RANGE_CLOEXEC) === 0) return;
  // Before Linux 5.11: one by one, up to the highest number that can be open.
  const limit = new BigUint64Array(2);
  succeed(libc.call("prlimit64", 0, RLIMIT_NOFILE, 0, limit), "Read the limit of open files");
  for (let descriptor = from; descriptor < Number(limit[0]); descriptor++) {
    const result = libc.call("fcntl", descriptor, F_SETFD, FD_CLOEXEC);
    if (result !== -EBADF) succeed(result, `Mark descriptor ${descriptor} close-on-exec`);
  }
}

/** Which of the descriptors 0-2 are terminals. Needs no permission to read. */
export function terminalDescriptors(libc: Libc): TerminalDescriptor[] {
  const streams = [[0, Deno.stdin], [1, Deno.stdout], [2, Deno.stderr]] as const;
  return streams.filter(([, stream]) => stream.isTerminal()).flatMap(([descriptor]) => {
    const path = readLink(libc, `/proc/self/fd/${descriptor}`);
    return path?.startsWith("/") ? [{ descriptor, path }] : [];
  });
}

function readLink(libc: Libc, path: string): string | undefined {
  const target = new Uint8Array(4096);
  const length = libc.call("readlinkat", -100, cString(path), target, target.length);
  return length > 0 ? new TextDecoder().decode(target.subarray(0, length)) : undefined;
}
