/** What the tree program is told: absolute paths, and how much to measure. */
export interface TreeSetup {
  readonly programs: {
    readonly boll: string;
    /** A program of no code at all. */
    readonly empty: string;
    /** One that says that it is up and then waits. */
    readonly idle: string;
    /** `frame_child.ts`. */
    readonly frameChild: string;
  };
  /** The whole environment of boll; its home holds the guests, built. */
  readonly environment: Readonly<Record<string, string>>;
  readonly guests: {
    /** Prints one line and ends; stdio only. */
    readonly hello: string;
    /** Computes for ever. */
    readonly loop: string;
    /** Waits for ever. */
    readonly block: string;
  };
  readonly rounds: TreeRounds;
}

/** How much is measured. */
export interface TreeRounds {
  /** Sessions of each kind, one after the other. */
  readonly starts: number;
  /** Bursts of round trips and of events of each kind. */
  readonly bursts: number;
  /** Round trips of one burst. */
  readonly roundTrips: number;
  /** Events of one burst. */
  readonly events: number;
  /** Sessions at once. */
  readonly crowds: readonly number[];
  /** Sessions that tell a result and go. */
  readonly results: number;
}

/** Of many runs, ms. */
export interface Spread {
  readonly p50: number;
  readonly p99: number;
}
