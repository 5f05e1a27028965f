import type { Libc } from "./libc.ts";

const P_ALL = 0;
const WNOHANG = 1;
const WEXITED = 4;
const WNOWAIT = 0x01000000;
/** Of `siginfo_t` on 64-bit systems: its size, and where the pid of an ended child is. */
const SIGINFO_BYTES = 128;
const SI_PID = 16;

/** Makes a function that takes away adopted processes which have died; how many. */
export function adoptedReaper(libc: Libc): (isOwn: (pid: number) => boolean) => number {
  const info = new Uint8Array(SIGINFO_BYTES);
  // Asked for once: every look-up of an address is kept until libc is closed.
  const address = libc.addressOf(info);
  const pidOf = new DataView(info.buffer);
  return (isOwn) => {
    for (let reaped = 0;; reaped++) {
      pidOf.setInt32(SI_PID, 0, true);
      if (libc.call("waitid", P_ALL, 0, address, WEXITED | WNOHANG | WNOWAIT, 0) !== 0) return reaped;
      const pid = pidOf.getInt32(SI_PID, true);
      // What the runtime started is the runtime's to wait for. It does so soon, and what is behind it comes next time.
      if (pid <= 0 || isOwn(pid) || libc.call("wait4", pid, 0, WNOHANG, 0) !== pid) return reaped;
    }
  };
}
