import { CapsuleError, type HullRules, type ProcessBounds, type ProcessLimits } from "../base/mod.ts";
import { closeOnExec, type TerminalDescriptor, terminalDescriptors } from "./descriptors.ts";
import { landlockAbi, raiseLandlock, succeed, toPathRules, toPortRules } from "./landlock.ts";
import { Libc } from "./libc.ts";
import { applyBounds, applyLimits } from "./limits.ts";
import { setNoDelay, setUserTimeout } from "./listener_options.ts";
import { dieWithParent } from "./parent_death.ts";
import { raiseSeccomp } from "./seccomp.ts";

const PR_SET_NO_NEW_PRIVS = 38;

/** What {@link ProcessHull.confine} raised, and how long it took. */
export interface HullReport {
  /** Off only where the running kernel has no Landlock. */
  readonly landlock: "on" | "off";
  readonly seccomp: "on" | "off";
  /** Landlock ABI version of the running kernel, 0 when there is none. */
  readonly abi: number;
  readonly durationMs: number;
}

/**
 * This process, to be confined. libc is open from `open()` to `close()` and reachable through nothing else. Order:
 * `dieWithParent` and `limit` before a `confine` with seccomp, which refuses them; `confine` stacks, and only narrows.
 */
export class ProcessHull implements Disposable {
  readonly #libc: Libc;
  #layers = 0;

  private constructor(libc: Libc) {
    this.#libc = libc;
  }

  /** @throws `hull.unavailable` off Linux x86-64 and aarch64, and without (unscoped) ffi permission. */
  static open(): ProcessHull {
    return new ProcessHull(Libc.open());
  }

  /**
   * SIGKILL when the thread that spawned this process ends (so spawn from the main thread).
   * @throws `hull.failed` when the parent is another already.
   */
  dieWithParent(expectedParentPid: number): void {
    dieWithParent(this.#libc, expectedParentPid);
  }

  /** Marks every descriptor from `from` on close-on-exec: no child inherits the caller's files. @throws `hull.failed` */
  closeDescriptorsOnExec(from = 3): void {
    closeOnExec(this.#libc, from);
  }

  /** Connections accepted on this process's port `port` send at once and wait for no acknowledgement. */
  setNoDelay(port: number): void {
    setNoDelay(this.#libc, port);
  }

  /** Connections accepted on this process's port `port` are reset when their client takes nothing for that time, ms. */
  setUserTimeout(port: number, ms: number): void {
    setUserTimeout(this.#libc, port, ms);
  }

  /** Sets resource limits, soft and hard, for good; core dumps are always off. @throws `hull.failed` */
  limit(limits: ProcessLimits): void {
    applyLimits(this.#libc, limits);
  }

  /** Bounds this process, which starts others. @throws `hull.failed` */
  bound(bounds: ProcessBounds): void {
    applyBounds(this.#libc, bounds);
  }

  /**
   * Raises Landlock on this thread and what it starts from now on (on every thread from ABI 8 on), then, if asked,
   * seccomp on every thread. Cannot be undone. After a failure the process may be partly confined: end it.
   * @throws `hull.failed` naming the place that is missing or the part that the kernel refused.
   */
  confine(rules: HullRules): HullReport {
    const start = performance.now();
    const libc = this.#libc;
    refuseUnholdable(rules);
    succeed(libc.call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "Set no_new_privs");
    const abi = Math.max(0, landlockAbi(libc));
    if (abi > 0) {
      const terminals = rules.tty ? this.terminals().map(({ descriptor }) => descriptor) : [];
      raiseLandlock(libc, abi, {
        paths: toPathRules(rules, terminals),
        ports: rules.anyTcp ? "any" : toPortRules(rules),
        scopesSignals: this.#layers++ === 0,
      });
    }
    if (rules.seccomp) {
      raiseSeccomp(libc, {
        pid: Deno.pid,
        tcpConnect: rules.tcpConnect.length > 0,
        tcpBind: rules.tcpBind.length > 0,
        udp: rules.udp,
        unixSockets: rules.unixSockets,
        fileTimes: rules.write.length > 0,
      });
    }
    const [landlock, seccomp] = [abi > 0 ? "on" : "off", rules.seccomp ? "on" : "off"] as const;
    return { landlock, seccomp, abi, durationMs: performance.now() - start };
  }

  /** Which of the descriptors 0-2 are terminals; works without permission to read. */
  terminals(): TerminalDescriptor[] {
    return terminalDescriptors(this.#libc);
  }

  /** Closes libc; nothing else works afterwards. Then revoke ffi, so that none comes back. */
  close(): void {
    this.#libc.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

// A unix socket can reach any path, by connect or as a datagram, and neither Landlock nor seccomp tells it from others.
function refuseUnholdable(rules: HullRules): void {
  if (!rules.seccomp || !rules.unixSockets || !(rules.udp || rules.tcpConnect.length > 0)) return;
  const message = "Raise the kernel wall: unix sockets and TCP or UDP together cannot be held by seccomp, leave one";
  throw new CapsuleError("hull.failed", message);
}
