import type { ActiveEndpoint } from "../../protocol/control/mod.ts";

/** What one session last said of its model endpoints; never a URL, host or credential. */
export interface IntelReport {
  readonly all_down: boolean;
  readonly active?: ActiveEndpoint;
}

/**
 * What readiness, metrics and `ps` read: one truth about every session's model endpoints. A session that has said
 * nothing counts as served.
 */
export class IntelHealth {
  readonly #reports = new Map<string, IntelReport>();

  /** Keeps the report; whether it entered or left "all down". */
  latch(path: string, report: IntelReport): boolean {
    const before = this.#reports.get(path)?.all_down ?? false;
    this.#reports.set(path, report);
    return before !== report.all_down;
  }

  /** Forgets a session that ended: the dead need no model. */
  forget(path: string): void {
    this.#reports.delete(path);
  }

  /** The last report of a living session. */
  of(path: string): IntelReport | undefined {
    return this.#reports.get(path);
  }

  /** Paths of the sessions that reach no model now. */
  get down(): string[] {
    return [...this.#reports].filter(([, report]) => report.all_down).map(([path]) => path);
  }
}
