import type { HullRules } from "../../base/mod.ts";
import type { ProcessHull } from "../../hull/mod.ts";

/** The walls of a session with a door, in two steps around the binding of its port. */
export class DoorHull {
  readonly #hull: Pick<ProcessHull, "confine" | "setUserTimeout"> | undefined;
  readonly #rules: HullRules;

  /** `rules` are those of the session without its door; `folder` is that of a named service, which it writes. */
  constructor(hull: Pick<ProcessHull, "confine" | "setUserTimeout"> | undefined, rules: HullRules, folder?: string) {
    this.#hull = hull;
    this.#rules = folder === undefined ? rules : { ...rules, write: [...rules.write, folder] };
  }

  /** From here on the process may bind this port, and no other that its guests may not. */
  allowBinding(port: number): void {
    this.#hull?.confine({ ...this.#rules, tcpBind: [...this.#rules.tcpBind, port] });
  }

  /** The port is bound: nothing is any more. Who takes nothing there for that time, ms, is cut off by the kernel. */
  close(port: number, stalledMs: number): void {
    this.#hull?.setUserTimeout(port, stalledMs);
    this.#hull?.confine(this.#rules);
  }
}
