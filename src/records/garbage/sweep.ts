/** What one kind of garbage came to. */
export interface SweepReport {
  readonly removed: number;
  readonly kept: number;
  /** Bytes of the files in what was removed. */
  readonly bytes: number;
}

/** Something that may go: its size, and how. `remove` gives false when another process was first. */
export interface Candidate {
  readonly bytes: number;
  remove(): boolean;
}

/** Options of {@link Sweep}; what cannot be removed is added to `failed`. */
export interface SweepOptions {
  readonly dryRun: boolean;
  readonly failed: { path: string; reason: string }[];
}

/** Removes things one by one and counts; one that resists never stops the others. */
export class Sweep {
  readonly #options: SweepOptions;
  #removed = 0;
  #kept = 0;
  #bytes = 0;

  constructor(options: SweepOptions) {
    this.#options = options;
  }

  /** Counts one thing that stays. */
  keep(): void {
    this.#kept++;
  }

  /** Looks at one thing; `look` gives nothing when it stays after all. */
  take(path: string, look: () => Candidate | undefined): void {
    try {
      const candidate = look();
      if (candidate === undefined) return this.keep();
      if (!this.#options.dryRun && !candidate.remove()) return;
      this.#removed++;
      this.#bytes += candidate.bytes;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return;
      this.#kept++;
      this.#options.failed.push({ path, reason: error instanceof Error ? error.message : String(error) });
    }
  }

  /** The counts so far. */
  report(): SweepReport {
    return { removed: this.#removed, kept: this.#kept, bytes: this.#bytes };
  }
}
