/** A bound that was set before anything was measured: a ratio, ms, or so many a second. */
export interface Target {
  readonly kind: "at most" | "at least" | "more than";
  readonly bound: number;
}

/** The targets, one place for all. */
export const TARGETS = {
  /** A warm run behind all walls, against an empty compiled program. */
  run: { kind: "at most", bound: 4 },
  /** The same for a guest with stdio only. */
  smallestRun: { kind: "at most", bound: 3 },
  /** How many times faster a warm run is than `jco run`. */
  jcoRun: { kind: "at least", bound: 8 },
  /** … than Deno with preview2-shim. */
  shimRun: { kind: "more than", bound: 1 },
  /** A file operation against the same Deno calls. */
  directFiles: { kind: "at most", bound: 2 },
  /** How many times faster it is than through preview2-shim. */
  shimFiles: { kind: "at least", bound: 10 },
  /** The start of a session until its guest is about to run, against a whole run of an empty compiled program. */
  sessionReady: { kind: "at most", bound: 5 },
  /** A call into a cell that lives, ms. */
  liveCall: { kind: "at most", bound: 5 },
  /** Round trips of frames, a second. */
  roundTrips: { kind: "at least", bound: 15_000 },
  /** The memory of an idle command session, against an idle compiled program. */
  idleSession: { kind: "at most", bound: 1.5 },
  /** A run in a full home against one in an empty home: flat. */
  fullHome: { kind: "at most", bound: 1.1 },
} as const satisfies Record<string, Target>;

/**
 * The target and whether what was found, as measured and not as rounded, meets it. A difference of runs that are as long as
 * each other gives no ratio.
 */
export function judge(found: number, { kind, bound }: Target): string {
  const isMet = kind === "at most" ? found <= bound : kind === "at least" ? found >= bound : found > bound;
  const sign = { "at most": "≤", "at least": "≥", "more than": ">" }[kind];
  if (!Number.isFinite(found) || found <= 0) return `${sign} ${bound}: not measured`;
  return `${sign} ${bound}: ${isMet ? "met" : "missed"}`;
}
